//! The control channel between host and supervisor: a pair of sockets that keep packets apart. Owns how orders, reports
//! and descriptors travel over it; what they mean is not known here.
//!
//! Descriptors travel inside of packets, so that there is no moment at which a process that the host starts on another
//! thread could inherit one.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};

use super::order::Order;
use super::report::{Report, decode_blow, encode_blow};
use crate::os::Blow;

/// More than the kernel takes as arguments and environment of one process.
const MAX_ORDER_BYTES: usize = 16 << 20;

/// The most bytes of an order in one packet; well below what every socket takes.
const CHUNK: usize = 32 << 10;

/// The agent's standard input, output and error.
pub(super) type Stdio<T> = [T; 3];

/// A new channel, both ends blocking; no wait of the host's end, which comes first, is longer than `patience`.
pub(super) fn open(patience: Duration) -> io::Result<(OwnedFd, OwnedFd)> {
    let (host, supervisor) = socketpair(
        AddressFamily::UNIX,
        SocketType::SEQPACKET,
        SocketFlags::CLOEXEC,
        None,
    )?;
    for side in [Timeout::Recv, Timeout::Send] {
        set_socket_timeout(&host, side, Some(patience))?;
    }
    Ok((host, supervisor))
}

/// An order that is ready to be sent.
pub(super) struct Sealed(Vec<u8>);

impl Sealed {
    /// # Errors
    ///
    /// It is too long, as it would be for the system.
    pub(super) fn new(order: &Order) -> io::Result<Self> {
        let order = order.encode();
        if order.len() > MAX_ORDER_BYTES {
            return Err(Errno::TOOBIG.into());
        }
        Ok(Self(order))
    }

    /// Sends what comes first: the length and the agent's standard streams, which are the supervisor's from then on.
    pub(super) fn send_head(&self, channel: &OwnedFd, stdio: Stdio<BorrowedFd<'_>>) -> io::Result<()> {
        let head = u64::try_from(self.0.len()).unwrap_or_default().to_le_bytes();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
        let mut rights = SendAncillaryBuffer::new(&mut space);
        rights.push(SendAncillaryMessage::ScmRights(&stdio));
        let flags = SendFlags::NOSIGNAL;
        retry(|| sendmsg(channel, &[IoSlice::new(&head)], &mut rights, flags))?;
        Ok(())
    }

    pub(super) fn send_rest(&self, channel: &OwnedFd) -> io::Result<()> {
        for chunk in self.0.chunks(CHUNK) {
            retry(|| rustix::net::send(channel, chunk, SendFlags::NOSIGNAL))?;
        }
        Ok(())
    }
}

/// Waits for an order. `None` if what comes is none, or the host has gone. Unbounded: the host's death ends it.
pub(super) fn receive_order(channel: impl AsFd) -> Option<(Order, Stdio<OwnedFd>)> {
    let channel = channel.as_fd();
    let mut head = [0; 8];
    let (received, rights) = receive(channel, &mut head, RecvFlags::empty()).ok()?;
    let stdio = rights.try_into().ok()?;
    let length = usize::try_from(u64::from_le_bytes(head)).ok()?;
    if received != head.len() || length > MAX_ORDER_BYTES {
        return None;
    }
    let mut order = vec![0; length];
    let mut filled = 0;
    while filled < length {
        match receive(channel, &mut order[filled..], RecvFlags::empty()) {
            Ok((0, _)) | Err(_) => return None,
            Ok((count, _)) => filled += count,
        }
    }
    Some((Order::decode(&order)?, stdio))
}

/// Sends a report, with a descriptor if there is one. Does not wait.
pub(super) fn send_report(
    channel: impl AsFd,
    report: Report,
    descriptor: Option<&OwnedFd>,
) -> io::Result<()> {
    let descriptor = descriptor.map(AsFd::as_fd);
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut rights = SendAncillaryBuffer::new(&mut space);
    if let Some(descriptor) = &descriptor {
        rights.push(SendAncillaryMessage::ScmRights(std::slice::from_ref(descriptor)));
    }
    let (report, flags) = (report.encode(), SendFlags::NOSIGNAL | SendFlags::DONTWAIT);
    let channel = channel.as_fd();
    retry(|| sendmsg(channel, &[IoSlice::new(&report)], &mut rights, flags))?;
    Ok(())
}

/// Receives a report, and the descriptor that came with it. `None` when the supervisor has gone. Waits as the channel
/// does.
pub(super) fn receive_report(channel: &OwnedFd) -> io::Result<Option<(Report, Option<OwnedFd>)>> {
    let mut report = [0; Report::BYTES];
    let (length, mut rights) = receive(channel.as_fd(), &mut report, RecvFlags::empty())?;
    if length == 0 {
        return Ok(None);
    }
    match Report::decode(&report[..length]) {
        Some(report) => Ok(Some((report, rights.pop()))),
        None => Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "it speaks no known language",
        )),
    }
}

/// Sends a command. Does not wait.
pub(super) fn send_blow(channel: &OwnedFd, blow: Blow) -> io::Result<()> {
    let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
    retry(|| rustix::net::send(channel, &encode_blow(blow), flags))?;
    Ok(())
}

/// What the host's side has to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    Strike(Blow),
    /// The host has gone.
    Gone,
}

/// The next word of the host, if there is one. Does not wait.
pub(super) fn receive_word(channel: impl AsFd) -> Option<Word> {
    let mut word = [0; 2];
    match receive(channel.as_fd(), &mut word, RecvFlags::DONTWAIT) {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => None,
        Ok((0, _)) | Err(_) => Some(Word::Gone),
        // A host that speaks another language is as good as none.
        Ok((length, _)) => Some(decode_blow(&word[..length]).map_or(Word::Gone, Word::Strike)),
    }
}

/// One packet and the descriptors in it, none of which outlives an `exec`.
fn receive(
    channel: BorrowedFd<'_>,
    buffer: &mut [u8],
    flags: RecvFlags,
) -> io::Result<(usize, Vec<OwnedFd>)> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
    let mut rights = RecvAncillaryBuffer::new(&mut space);
    let flags = flags | RecvFlags::CMSG_CLOEXEC;
    let received = retry(|| recvmsg(channel, &mut [IoSliceMut::new(buffer)], &mut rights, flags))?;
    let descriptors = rights
        .drain()
        .filter_map(|message| match message {
            RecvAncillaryMessage::ScmRights(descriptors) => Some(descriptors),
            _ => None,
        })
        .flatten()
        .collect();
    Ok((received.bytes, descriptors))
}

/// Repeats what a signal interrupted, and what was told of the other side's death instead of being given what that side
/// had said before: the kernel tells it once.
fn retry<T>(mut call: impl FnMut() -> rustix::io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(Errno::INTR | Errno::CONNRESET) => {}
            outcome => return Ok(outcome?),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;
    use crate::supervisor::order::Windows;
    use crate::{ChildEnv, ChildSpec, ExitFacts, Program};

    fn pair() -> (OwnedFd, OwnedFd) {
        open(Duration::from_secs(20)).unwrap()
    }

    fn order(bytes: usize) -> Order {
        let window = Duration::from_secs(1);
        Order {
            windows: Windows {
                eof_grace: window,
                grace: window,
            },
            located: "/bin/agent".into(),
            spec: ChildSpec {
                program: Program::Bare("agent".into()),
                args: vec!["x".repeat(bytes).into()],
                cwd: "/".into(),
                env: ChildEnv::default(),
            },
        }
    }

    #[test]
    fn an_order_of_many_packets_arrives_with_its_three_streams_in_order() {
        let (host, supervisor) = pair();
        // More than a socket holds, so that both sides have to work at once.
        let sealed = Sealed::new(&order(2 << 20)).unwrap();
        let receiver = std::thread::spawn(move || receive_order(&supervisor));
        let mut readers = Vec::new();
        let writers: Vec<OwnedFd> = (0..3)
            .map(|_| {
                let (reader, writer) = io::pipe().unwrap();
                readers.push(reader);
                writer.into()
            })
            .collect();
        let stdio = [writers[0].as_fd(), writers[1].as_fd(), writers[2].as_fd()];
        sealed.send_head(&host, stdio).unwrap();
        drop(writers);
        sealed.send_rest(&host).unwrap();
        let (arrived, streams) = receiver.join().unwrap().unwrap();
        assert_eq!(arrived.spec.args[0].len(), 2 << 20);
        for (stream, (reader, letter)) in streams.into_iter().zip(readers.iter_mut().zip(["a", "b", "c"])) {
            std::fs::File::from(stream).write_all(letter.as_bytes()).unwrap();
            // Read to the end: nobody else has the other end.
            assert_eq!(io::read_to_string(reader).unwrap(), letter);
        }
    }

    #[test]
    fn a_host_that_goes_in_the_middle_has_ordered_nothing() {
        let null = std::fs::File::open("/dev/null").unwrap();
        let (host, supervisor) = pair();
        let sealed = Sealed::new(&order(10)).unwrap();
        sealed
            .send_head(&host, [null.as_fd(), null.as_fd(), null.as_fd()])
            .unwrap();
        drop(host);
        assert!(receive_order(&supervisor).is_none());
    }

    #[test]
    fn a_head_without_the_streams_is_no_order() {
        let (host, supervisor) = pair();
        rustix::net::send(&host, &8_u64.to_le_bytes(), SendFlags::NOSIGNAL).unwrap();
        assert!(receive_order(&supervisor).is_none());
    }

    #[test]
    fn an_order_that_no_system_would_take_is_not_sent() {
        let error = Sealed::new(&order(MAX_ORDER_BYTES)).err().unwrap();
        assert_eq!(error.raw_os_error(), Some(Errno::TOOBIG.raw_os_error()));
    }

    #[test]
    fn what_a_supervisor_told_before_its_end_is_heard_although_it_had_not_listened() {
        let (host, supervisor) = pair();
        send_blow(&host, Blow::Terminate).unwrap();
        let ended = Report::Ended(ExitFacts {
            code: Some(3),
            signal: None,
        });
        send_report(&supervisor, ended, None).unwrap();
        drop(supervisor);
        assert_eq!(receive_report(&host).unwrap().unwrap().0, ended);
        assert!(receive_report(&host).unwrap().is_none());
        assert!(send_blow(&host, Blow::Kill).is_err());
    }

    #[test]
    fn words_are_heard_in_order_and_the_hosts_end_is_the_last() {
        let (host, supervisor) = pair();
        assert_eq!(receive_word(&supervisor), None);
        send_blow(&host, Blow::Terminate).unwrap();
        send_blow(&host, Blow::Kill).unwrap();
        drop(host);
        let heard = [(); 3].map(|()| receive_word(&supervisor));
        let expected = [
            Word::Strike(Blow::Terminate),
            Word::Strike(Blow::Kill),
            Word::Gone,
        ];
        assert_eq!(heard, expected.map(Some));
    }
}

//! How a connection ends: the peer's output ends, its input is closed, it has exited.

use tokio::io::AsyncWriteExt;

use super::*;

fn unnoticed(pieces: &[Option<&'static [u8]>]) -> Unnoticed {
    Unnoticed {
        pieces: pieces.iter().copied().collect(),
        refill: None,
        available: None,
    }
}

/// A connection whose peer has closed its input, and that has tried to write to it.
fn unwritable<S: Source>(source: S) -> Connection<S, DuplexStream> {
    let (writer, stdin) = duplex(16);
    drop(stdin);
    let mut connection = Connection::new(source, writer, LIMITS);
    connection.request("ask", &()).unwrap();
    connection
}

const BROKEN: &str = "failed: the input of the peer could not be written";

#[test]
fn the_end_of_the_output_closes_for_good() {
    let (mut connection, mut peer) = connected(4096, LIMITS);
    assert!(matches!(
        poll_once(peer.stdout.write_all(b"{\"method\":\"m\"}\n{\"half\":")),
        Poll::Ready(Ok(()))
    ));
    drop(peer.stdout);
    assert_eq!(all_now(&mut connection), ["notification m -", "closed"]);
    assert_eq!(all_now(&mut connection), ["closed"]);
    assert!(matches!(connection.request("ask", &()), Err(RpcError::Closed)));
    assert_eq!(connection.ignored().not_json, 1);
}

#[test]
fn a_read_error_is_reported_with_its_cause_again_and_again() {
    struct Broken;
    impl AsyncRead for Broken {
        fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, _: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Err(io::Error::from_raw_os_error(5)))
        }
    }
    impl Source for Broken {
        fn available(&self) -> io::Result<Option<usize>> {
            Ok(None)
        }
        fn read_now(&mut self, _: &mut [u8]) -> io::Result<Option<usize>> {
            Err(io::Error::from_raw_os_error(5))
        }
    }
    let mut connection = reading(Broken, LIMITS);
    for _ in 0..2 {
        let Poll::Ready(Err(RpcError::Read(cause))) = poll_once(connection.next()) else {
            panic!("expected a read error")
        };
        assert_eq!(cause.raw_os_error(), Some(5));
    }
}

#[test]
fn a_closed_input_does_not_hide_what_the_peer_wrote() {
    let mut connection = unwritable(unnoticed(&[
        Some(b"{\"method\":\"one\"}\n{\"meth"),
        Some(b"od\":\"two\"}\n"),
        None,
        Some(b"{\"method\":\"three\"}\n"),
        None,
    ]));
    assert_eq!(
        all_now(&mut connection),
        ["notification one -", "notification two -", BROKEN]
    );
    assert_eq!(
        all_now(&mut connection),
        ["notification three -", BROKEN],
        "it may still come"
    );
    assert_eq!(all_now(&mut connection), ["closed"]);
}

#[test]
fn after_a_failed_write_only_requests_fail() {
    let mut connection = unwritable(unnoticed(&[
        Some(b"{\"id\":5,\"method\":\"ask\"}\n"),
        None,
        None,
        None,
    ]));
    let Poll::Ready(Ok(Incoming::Request { id, .. })) = poll_once(connection.next()) else {
        panic!("expected a request")
    };
    assert!(connection.is_drained(), "what waited is dropped");
    connection.reply(&id, &()).unwrap();
    connection.reject(&id, 1, "no").unwrap();
    connection.notify("m", &()).unwrap();
    assert!(matches!(connection.request("ask", &()), Err(RpcError::Write(_))));
    assert!(matches!(
        poll_once(connection.flush()),
        Poll::Ready(Err(RpcError::Write(_)))
    ));
    let Poll::Ready(Err(RpcError::Write(cause))) = poll_once(connection.next()) else {
        panic!("expected a write error")
    };
    assert_eq!(cause.kind(), io::ErrorKind::BrokenPipe);
}

#[tokio::test]
async fn a_used_up_share_of_the_runtime_does_not_read_as_an_empty_pipe() {
    let (mut stdout, reader) = duplex(1 << 20);
    stdout
        .write_all(&b"{\"method\":\"m\"}\n".repeat(10_000))
        .await
        .unwrap();
    let mut connection = unwritable(Buffered::new(reader));
    assert!(matches!(
        poll_once(connection.flush()),
        Poll::Ready(Err(RpcError::Write(_)))
    ));
    while tokio::task::coop::has_budget_remaining() {
        let _ = poll_once(tokio::task::coop::consume_budget());
    }
    assert_eq!(all_now(&mut connection).len(), 10_001);
}

#[test]
fn an_exit_ends_reading_though_a_descendant_writes_on() {
    let frame = b"{\"method\":\"m\"}\n";
    for (available, frames) in [(0, 0), (15, 1), (30, 2), (37, 2)] {
        let mut connection = reading(
            Unnoticed {
                pieces: VecDeque::new(),
                refill: Some(frame),
                available: Some(available),
            },
            LIMITS,
        );
        assert!(all_now(&mut connection).is_empty());
        connection.finish_reading();
        connection.finish_reading();
        let mut expected = vec!["notification m -"; frames];
        expected.push("closed");
        assert_eq!(all_now(&mut connection), expected, "{available} bytes");
        assert_eq!(connection.received_bytes(), available as u64);
    }
}

#[test]
fn an_exit_ends_reading_though_the_source_does_not_know_what_it_holds() {
    let mut source = unnoticed(&[]);
    source.refill = Some(b"{\"method\":\"m\"}\n");
    let limits = Limits {
        max_frame_bytes: 1000,
        ..LIMITS
    };
    let mut connection = reading(source, limits);
    connection.finish_reading();
    let lines = all_now(&mut connection);
    assert_eq!(lines.last().map(String::as_str), Some("closed"));
    assert_eq!(connection.received_bytes(), 1000 + 65536);
}

#[test]
fn an_exit_yields_what_the_pipe_holds_also_after_a_failed_write() {
    let mut connection = unwritable(unnoticed(&[None, Some(b"{\"method\":\"m\"}\n"), None]));
    assert_eq!(all_now(&mut connection), [BROKEN]);
    connection.finish_reading();
    assert_eq!(all_now(&mut connection), ["notification m -", "closed"]);
}

#[test]
fn an_exit_keeps_what_was_read_before_it() {
    let (mut connection, mut peer) = connected(4096, LIMITS);
    let output = b"{\"method\":\"one\"}\n{\"method\":\"two\"}\n{\"meth";
    assert!(matches!(
        poll_once(peer.stdout.write_all(output)),
        Poll::Ready(Ok(()))
    ));
    assert!(
        matches!(poll_once(connection.next()), Poll::Ready(Ok(_))),
        "the first"
    );
    assert!(matches!(
        poll_once(peer.stdout.write_all(b"od\":\"three\"}\n")),
        Poll::Ready(Ok(()))
    ));
    connection.finish_reading();
    assert_eq!(
        all_now(&mut connection),
        ["notification two -", "notification three -", "closed"]
    );
}

#[test]
fn an_exit_that_is_told_while_waiting_ends_reading_before_a_descendant_can_go_on() {
    let source = Unnoticed {
        pieces: VecDeque::new(),
        refill: Some(b"{\"method\":\"m\"}\n"),
        available: Some(15),
    };
    let mut connection = reading(source, LIMITS);
    assert!(poll_once(connection.next_or_exit(std::future::pending())).is_pending());
    let next = |connection: &mut Connection<_, _>| match poll_once(connection.next_or_exit(async {})) {
        Poll::Ready(next) => shown(&next),
        Poll::Pending => panic!("expected what the pipe holds, or the end"),
    };
    assert_eq!(next(&mut connection), "notification m -");
    assert_eq!(next(&mut connection), "closed");
}

#[test]
fn what_is_discarded_never_blocks_the_peer_and_is_heard_no_more() {
    let (mut connection, mut peer) = connected(16, LIMITS);
    for _ in 0..100 {
        assert!(matches!(
            poll_once(peer.stdout.write_all(b"{\"method\":\"m\"}\n")),
            Poll::Ready(Ok(()))
        ));
        assert!(poll_once(connection.discard()).is_pending());
    }
    drop(peer.stdout);
    assert!(poll_once(connection.discard()).is_pending());
    assert_eq!(all_now(&mut connection), ["closed"]);
}

#[test]
fn what_has_arrived_can_be_had_without_waiting_and_without_what_comes_later() {
    let frame = b"{\"method\":\"m\"}\n";
    for (available, frames) in [(0, 0), (15, 1), (30, 2)] {
        let mut connection = reading(
            Unnoticed {
                pieces: VecDeque::new(),
                refill: Some(frame),
                available: Some(available),
            },
            LIMITS,
        );
        let arrived = connection.arrived_bytes();
        let mut all = Vec::new();
        while let Some(next) = connection.next_arrived(arrived) {
            all.push(shown(&next));
        }
        assert_eq!(all, vec!["notification m -"; frames], "{available} bytes");
    }
}

#[test]
fn the_beginning_of_a_frame_is_not_waited_for() {
    let mut source = unnoticed(&[
        Some(b"{\"method\":\"m\"}\n{\"met"),
        None,
        Some(b"hod\":\"n\"}\n"),
        None,
    ]);
    source.available = Some(20);
    let mut connection = reading(source, LIMITS);
    let arrived = connection.arrived_bytes();
    assert_eq!(
        shown(&connection.next_arrived(arrived).unwrap()),
        "notification m -"
    );
    assert!(connection.next_arrived(arrived).is_none());
    // Nothing of it is lost.
    assert_eq!(
        shown(&connection.next_arrived(arrived).unwrap()),
        "notification n -"
    );
    assert!(connection.next_arrived(arrived).is_none());
}

//! The pipes between host and child. Owns what the runtime's own pipe types cannot tell: how many bytes wait in a pipe
//! at this moment, and reading them without waiting for anything.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::rpc::Source;

/// The child's standard input.
pub type ChildInput = InputPipe<tokio::process::ChildStdin>;
/// The child's standard output.
pub type ChildStdout = OutputPipe<tokio::process::ChildStdout>;
/// The child's standard error.
pub type ChildStderr = OutputPipe<tokio::process::ChildStderr>;

/// A pipe that the host writes.
#[derive(Debug)]
pub struct InputPipe<P>(P);

impl ChildInput {
    pub(crate) fn new(pipe: std::process::ChildStdin) -> io::Result<Self> {
        tokio::process::ChildStdin::from_std(pipe).map(InputPipe)
    }
}

impl<P: AsyncWrite + Unpin> AsyncWrite for InputPipe<P> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}

/// A pipe that the host reads.
#[derive(Debug)]
pub struct OutputPipe<P>(P);

impl ChildStdout {
    pub(crate) fn new(pipe: std::process::ChildStdout) -> io::Result<Self> {
        tokio::process::ChildStdout::from_std(pipe).map(OutputPipe)
    }
}

impl ChildStderr {
    pub(crate) fn new(pipe: std::process::ChildStderr) -> io::Result<Self> {
        tokio::process::ChildStderr::from_std(pipe).map(OutputPipe)
    }
}

impl<P: AsyncRead + Unpin> AsyncRead for OutputPipe<P> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buf)
    }
}

#[cfg(unix)]
impl<P: AsyncRead + Unpin + Send + std::os::fd::AsFd> Source for OutputPipe<P> {
    fn available(&self) -> io::Result<Option<usize>> {
        let bytes = rustix::io::ioctl_fionread(&self.0)?;
        Ok(Some(usize::try_from(bytes).unwrap_or(usize::MAX)))
    }

    /// Asks the kernel itself. The runtime's own view lags behind: it may not have heard of bytes that were written before
    /// an exit that it has already heard of.
    fn read_now(&mut self, buf: &mut [u8]) -> io::Result<Option<usize>> {
        match rustix::io::retry_on_intr(|| rustix::io::read(&self.0, &mut *buf)) {
            Ok(count) => Ok(Some(count)),
            Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

#[cfg(not(unix))]
impl<P: AsyncRead + Unpin + Send> Source for OutputPipe<P> {
    fn available(&self) -> io::Result<Option<usize>> {
        Ok(None)
    }

    fn read_now(&mut self, buf: &mut [u8]) -> io::Result<Option<usize>> {
        let mut buf = ReadBuf::new(buf);
        let mut cx = Context::from_waker(std::task::Waker::noop());
        match Pin::new(&mut self.0).poll_read(&mut cx, &mut buf) {
            Poll::Ready(read) => read.map(|()| Some(buf.filled().len())),
            Poll::Pending => Ok(None),
        }
    }
}

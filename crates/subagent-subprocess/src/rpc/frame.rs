//! Bytes to lines: the one read buffer of a connection and the bound of a frame. Knows nothing of JSON.

use std::ops::Range;

use memchr::memchr;

/// What a read asks for at most when the buffer is small: as much as a pipe holds by default.
pub(super) const CHUNK: usize = 64 * 1024;

/// A read is worth its call only with this much room.
const LEAST_ROOM: usize = 8 * 1024;

/// A buffer larger than this is given back once the frame that needed it is done.
const RETAINED: usize = 4 * CHUNK;

/// The peer wrote more than a frame may have.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooLong {
    pub(super) limit: usize,
}

/// The read buffer. It never holds more than `limit` bytes and one chunk.
#[derive(Debug)]
pub(super) struct FrameBuffer {
    /// Initialised memory; only `start..end` holds bytes of the peer that are not handed out yet.
    bytes: Vec<u8>,
    start: usize,
    end: usize,
    /// No newline lies in `start..scanned`.
    scanned: usize,
    limit: usize,
}

impl FrameBuffer {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            bytes: Vec::new(),
            start: 0,
            end: 0,
            scanned: 0,
            limit,
        }
    }

    /// The next whole line, without its newline, as a place in [`bytes`](Self::bytes_mut). It stays valid until
    /// [`room`](Self::room) is called.
    pub(super) fn take_line(&mut self) -> Result<Option<Range<usize>>, TooLong> {
        let newline = memchr(b'\n', &self.bytes[self.scanned..self.end]).map(|place| self.scanned + place);
        let line = self.start..newline.unwrap_or(self.end);
        if line.len() > self.limit {
            return Err(TooLong { limit: self.limit });
        }
        if let Some(newline) = newline {
            self.start = newline + 1;
            self.scanned = self.start;
            Ok(Some(line))
        } else {
            self.scanned = self.end;
            Ok(None)
        }
    }

    /// What is left when no more bytes will come: a last line without its newline.
    pub(super) fn take_rest(&mut self) -> Range<usize> {
        let rest = self.start..self.end;
        self.start = self.end;
        self.scanned = self.end;
        rest
    }

    /// Room for the next read; never empty. Call [`filled`](Self::filled) with what was read into it.
    pub(super) fn room(&mut self) -> &mut [u8] {
        let kept = self.end - self.start;
        if kept == 0 {
            (self.start, self.end, self.scanned) = (0, 0, 0);
        }
        if self.bytes.len() > RETAINED && kept < CHUNK {
            // A giant frame is done: give its memory back.
            let mut small = vec![0; 2 * CHUNK];
            small[..kept].copy_from_slice(&self.bytes[self.start..self.end]);
            self.bytes = small;
            self.moved_to_front(kept);
        }
        if self.bytes.len() - self.end < LEAST_ROOM && self.start > 0 {
            self.bytes.copy_within(self.start..self.end, 0);
            self.moved_to_front(kept);
        }
        if self.bytes.len() - self.end < LEAST_ROOM {
            let most = self.limit.saturating_add(CHUNK);
            let wanted = (2 * self.bytes.len()).max(kept + CHUNK).min(most);
            self.bytes.reserve_exact(wanted - self.bytes.len());
            self.bytes.resize(wanted, 0);
        }
        &mut self.bytes[self.end..]
    }

    /// The first `count` bytes of the room now hold bytes of the peer.
    pub(super) fn filled(&mut self, count: usize) {
        self.end = (self.end + count).min(self.bytes.len());
    }

    /// The most bytes that a line may have.
    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    /// How many bytes are not handed out yet.
    pub(super) fn waiting(&self) -> usize {
        self.end - self.start
    }

    /// The memory that the places of lines refer to.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The same, to mend a line in place.
    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }

    fn moved_to_front(&mut self, kept: usize) {
        self.scanned -= self.start;
        self.start = 0;
        self.end = kept;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds `input` in pieces of `piece` bytes, as a connection would: all lines out before more is read.
    fn lines(buffer: &mut FrameBuffer, input: &[u8], piece: usize) -> Result<Vec<Vec<u8>>, TooLong> {
        let mut lines = Vec::new();
        let mut left = input;
        while !left.is_empty() {
            let room = buffer.room();
            let count = piece.min(left.len()).min(room.len());
            room[..count].copy_from_slice(&left[..count]);
            buffer.filled(count);
            left = &left[count..];
            while let Some(line) = buffer.take_line()? {
                lines.push(buffer.bytes()[line].to_vec());
            }
        }
        Ok(lines)
    }

    #[test]
    fn lines_are_the_same_however_the_bytes_are_cut() {
        let input = "one\n\ntwo é\r\nthree\nrest".as_bytes();
        for piece in 1..=input.len() {
            let mut buffer = FrameBuffer::new(100);
            let got = lines(&mut buffer, input, piece).unwrap();
            assert_eq!(
                got,
                [b"one".to_vec(), b"".to_vec(), "two é\r".into(), b"three".to_vec()],
                "pieces of {piece}"
            );
            let rest = buffer.take_rest();
            assert_eq!(&buffer.bytes()[rest], b"rest");
        }
    }

    #[test]
    fn a_line_of_exactly_the_bound_is_taken_and_one_byte_more_is_refused() {
        for limit in [1, 10, LEAST_ROOM, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK + 7] {
            for piece in [1000, CHUNK, usize::MAX] {
                let mut line = vec![b'x'; limit];
                assert_eq!(
                    lines(&mut FrameBuffer::new(limit), &line, piece),
                    Ok(vec![]),
                    "no newline yet"
                );
                line.push(b'\n');
                let got = lines(&mut FrameBuffer::new(limit), &line, piece).unwrap();
                assert_eq!(got.iter().map(Vec::len).collect::<Vec<_>>(), [limit]);
                line[limit] = b'x';
                assert_eq!(
                    lines(&mut FrameBuffer::new(limit), &line, piece),
                    Err(TooLong { limit }),
                    "no newline needed"
                );
                line.push(b'\n');
                assert_eq!(
                    lines(&mut FrameBuffer::new(limit), &line, piece),
                    Err(TooLong { limit })
                );
            }
        }
    }

    #[test]
    fn memory_stays_within_the_bound_and_one_chunk_and_is_given_back() {
        let limit = 40 * CHUNK;
        let mut buffer = FrameBuffer::new(limit);
        let mut giant = vec![b'x'; limit];
        giant.push(b'\n');
        assert_eq!(lines(&mut buffer, &giant, usize::MAX).unwrap().len(), 1);
        assert!(
            buffer.bytes.capacity() <= limit + CHUNK,
            "{}",
            buffer.bytes.capacity()
        );
        assert_eq!(
            lines(&mut buffer, b"small\npart", usize::MAX).unwrap(),
            [b"small"]
        );
        assert!(buffer.bytes.capacity() <= RETAINED, "{}", buffer.bytes.capacity());
        assert_eq!(lines(&mut buffer, b"ial\n", usize::MAX).unwrap(), [b"partial"]);
    }

    #[test]
    fn a_partial_line_survives_the_return_of_memory() {
        let mut buffer = FrameBuffer::new(40 * CHUNK);
        let mut input = vec![b'x'; 20 * CHUNK];
        input.extend_from_slice(b"\nhalf");
        assert_eq!(lines(&mut buffer, &input, usize::MAX).unwrap().len(), 1);
        assert_eq!(
            lines(&mut buffer, b" whole\n", usize::MAX).unwrap(),
            [b"half whole"]
        );
        assert!(buffer.bytes.capacity() <= RETAINED, "{}", buffer.bytes.capacity());
    }
}

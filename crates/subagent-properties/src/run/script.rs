//! A script for a child: what a fuzz input says that it does. Owns the notation; doing it is `peer`'s.
//!
//! The notation stands in the documentation of `run`.

/// One step.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Step<'a> {
    Await,
    Line(&'a [u8]),
    Part(&'a [u8]),
    Frame(&'a str),
    Filler(usize),
    Pieces(usize),
    Pass(u64),
    Exit(i32),
    Become(u8),
    Host(u8),
    Nothing,
    /// No step at all: sent with its newline, as it is.
    Raw(&'a [u8]),
}

impl<'a> Step<'a> {
    fn read(line: &'a [u8]) -> Self {
        let Some((first, rest)) = line.split_first() else {
            return Self::Raw(line);
        };
        let number = || std::str::from_utf8(rest).ok()?.parse::<i32>().ok();
        let small = |most: u16| number().map(|number| number.clamp(0, i32::from(most)).unsigned_abs());
        let step = match first {
            b'>' => Some(Self::Await),
            b'<' => Some(Self::Line(rest)),
            b'+' => Some(Self::Part(rest)),
            b'=' => std::str::from_utf8(rest).ok().map(Self::Frame),
            b'@' => small(256).map(|size| Self::Filler(1024 * size as usize)),
            b'*' => small(9999).map(|size| Self::Pieces(size as usize)),
            b'~' => small(60_000).map(|time| Self::Pass(time.into())),
            b'#' => number().map(Self::Exit),
            b'!' => rest.first().map(|what| Self::Become(*what)),
            b'?' => rest.first().map(|what| Self::Host(*what)),
            b'%' => Some(Self::Nothing),
            _ => None,
        };
        step.unwrap_or(Self::Raw(line))
    }
}

/// The steps of a script.
pub(crate) fn steps(input: &[u8]) -> impl Iterator<Item = Step<'_>> {
    input.split(|byte| *byte == b'\n').take(2000).map(Step::read)
}

/// The option in the first line.
pub(crate) fn option(input: &[u8]) -> Option<&str> {
    let first = input.split(|byte| *byte == b'\n').next()?;
    std::str::from_utf8(first.strip_prefix(b"%")?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_step_is_sent_as_it_is() {
        let script =
            b"%allow\n> initialize\n<{}\n+{\n=say hi\n@2\n*3\n~4\n#-9\n!x\n?c\n\n@\n{\"id\":1}\n=\xff";
        assert_eq!(
            steps(script).collect::<Vec<_>>(),
            [
                Step::Nothing,
                Step::Await,
                Step::Line(b"{}"),
                Step::Part(b"{"),
                Step::Frame("say hi"),
                Step::Filler(2048),
                Step::Pieces(3),
                Step::Pass(4),
                Step::Exit(-9),
                Step::Become(b'x'),
                Step::Host(b'c'),
                Step::Raw(b""),
                Step::Raw(b"@"),
                Step::Raw(b"{\"id\":1}"),
                Step::Raw(b"=\xff"),
            ]
        );
        assert_eq!(option(script), Some("allow"));
    }
}

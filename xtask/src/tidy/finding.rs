//! What a rule found, and where. How it is shown, and nothing about any rule.

use std::fmt;

/// A place that breaks a rule. Ordered by place, so that a report reads from file to file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    path: String,
    /// Counted from 1; 0 stands for the file as a whole.
    line: usize,
    rule: &'static str,
    message: String,
}

impl Finding {
    /// A file, or a crate, as a whole.
    pub(crate) fn in_file(path: &str, rule: &'static str, message: impl Into<String>) -> Self {
        Self::at(path, 0, rule, message)
    }

    /// A line, counted from 1.
    pub(crate) fn at(path: &str, line: usize, rule: &'static str, message: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            line,
            rule,
            message: message.into(),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.path)?;
        if self.line > 0 {
            write!(formatter, ":{}", self.line)?;
        }
        write!(formatter, ": {} [{}]", self.message, self.rule)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_reads_like_a_message_of_the_compiler() {
        assert_eq!(
            Finding::at("a.rs", 3, "rule", "text").to_string(),
            "a.rs:3: text [rule]"
        );
        assert_eq!(
            Finding::in_file("a.rs", "rule", "text").to_string(),
            "a.rs: text [rule]"
        );
    }
}

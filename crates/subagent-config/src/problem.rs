//! Everything that can be wrong with a configuration. Owns the words; the place and the hint stand beside a problem, in
//! `error`.

use std::fmt;

/// What is wrong, without the place and without advice. Holds no value of an `env` entry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// No file was named and none of the usual ones is there.
    #[error("no configuration file: there is no {}", Choice(.looked_for))]
    NotFound {
        /// Where a file was looked for.
        looked_for: Vec<String>,
    },
    /// The file cannot be read.
    #[error("cannot be read: {reason}")]
    Unreadable {
        /// What the operating system says.
        reason: String,
    },
    /// The file is not UTF-8.
    #[error("is not valid UTF-8")]
    NotUtf8,
    /// The file is longer than any configuration.
    #[error("is longer than {limit} bytes")]
    TooLong {
        /// The bound in bytes.
        limit: usize,
    },
    /// The file has more values than any configuration, once its aliases are expanded.
    #[error("has too many values, counting those that aliases stand for")]
    TooComplex,
    /// The file is not YAML.
    #[error("is not valid YAML: {detail}")]
    Syntax {
        /// What the parser says; it quotes no text of the file.
        detail: String,
    },
    /// The file holds a second YAML document.
    #[error("a second YAML document begins here, expected only one")]
    SeveralDocuments,
    /// A YAML feature that a configuration cannot use here.
    #[error("{feature} cannot be used here")]
    Unsupported {
        /// The feature.
        feature: &'static str,
    },
    /// A tag that means nothing here.
    #[error("unknown tag, expected !env NAME or !!js process.env.NAME")]
    UnknownTag,
    /// An expression other than `process.env.NAME`.
    #[error("!!js takes process.env.NAME only; other expressions are not evaluated")]
    Expression,
    /// A value has another type than its key.
    #[error("expected {expected}, found {found}")]
    WrongType {
        /// What the key takes.
        expected: String,
        /// What stands there.
        found: &'static str,
    },
    /// The same key twice in one mapping.
    #[error("duplicate key, first on line {first}")]
    DuplicateKey {
        /// The line of the first.
        first: usize,
    },
    /// A key that nothing reads.
    #[error("unknown key")]
    UnknownKey,
    /// A key without a default is absent.
    #[error("missing key")]
    MissingKey,
    /// An entry of an unknown kind.
    #[error("no entry is named {name}, expected {}", Choice(.known))]
    UnknownKind {
        /// The name as it stands there.
        name: String,
        /// The names that are known.
        known: &'static [&'static str],
    },
    /// A value that must have some text has none.
    #[error("must not be empty")]
    Empty,
    /// A text with a NUL, which no process can be given.
    #[error("must not contain a NUL character")]
    Nul,
    /// A time out of its bounds.
    #[error("{package}: {field} must be a positive finite number no greater than 2147483647")]
    Milliseconds {
        /// The kind of entry.
        package: &'static str,
        /// The key.
        field: String,
    },
    /// A byte or other count out of its bounds.
    #[error("{package}: {field} must be a positive integer no greater than {limit}")]
    Integer {
        /// The kind of entry.
        package: &'static str,
        /// The key.
        field: String,
        /// The largest one.
        limit: u64,
    },
    /// A bound that another one contradicts.
    #[error("must not be greater than {other}")]
    GreaterThan {
        /// The other key.
        other: &'static str,
    },
    /// A word that is none of the accepted ones.
    #[error("expected {}", Choice(.expected))]
    UnknownWord {
        /// The accepted words.
        expected: &'static [&'static str],
    },
    /// A host variable that a value needs is not set.
    #[error("the environment variable {variable} is not set")]
    MissingVariable {
        /// Its name.
        variable: String,
    },
    /// A host variable does not hold what its key takes.
    #[error("the environment variable {variable} does not hold {expected}")]
    UnfitVariable {
        /// Its name.
        variable: String,
        /// What the key takes.
        expected: String,
    },
    /// Something that cannot be the name of an environment variable.
    #[error("the name of an environment variable must not be empty and must not contain = or NUL")]
    VariableName,
    /// A variable of the child is set in two ways.
    #[error("stands in both env and isolatedConfigDirs")]
    SetTwice,
    /// A tool name that models and MCP clients would not take.
    #[error("a tool name must have 1 to 64 of the characters a-z A-Z 0-9 _ -")]
    ToolName,
    /// A tool name that a job tool has.
    #[error("the tool name {name} belongs to the job tools")]
    ReservedToolName {
        /// The name.
        name: String,
    },
    /// A name that must be unique is taken.
    #[error("the {what} {name} is already taken{}", Line(*.first))]
    Duplicate {
        /// What kind of name it is.
        what: &'static str,
        /// The name.
        name: String,
        /// The line of the first that has it.
        first: Option<usize>,
    },
    /// A second entry of a kind that may stand only once.
    #[error("a second {name} entry, expected only one")]
    SecondEntry {
        /// The kind.
        name: &'static str,
    },
    /// A tool delegates to a provider that is not there.
    #[error("no provider is named {provider}")]
    UnknownProvider {
        /// The name.
        provider: String,
    },
    /// A tool delegates to a provider whose entry is disabled.
    #[error("the provider {provider} is disabled")]
    DisabledProvider {
        /// The name.
        provider: String,
    },
    /// A tool limits the depth of a provider that cannot limit it.
    #[error("the provider {provider} cannot limit the delegation depth")]
    DepthUnsupported {
        /// The provider's name.
        provider: String,
    },
    /// The provider refused its options.
    #[error("{message}")]
    Refused {
        /// What it says; begins with the provider's package.
        message: String,
    },
}

/// `a`, `a or b`, `a, b or c`.
struct Choice<'a, T>(&'a [T]);

impl<T: fmt::Display> fmt::Display for Choice<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            [] => Ok(()),
            [only] => only.fmt(f),
            [init @ .., last] => {
                let init: Vec<_> = init.iter().map(T::to_string).collect();
                write!(f, "{} or {last}", init.join(", "))
            }
        }
    }
}

/// ` on line 3`, where the line is known.
struct Line(Option<usize>);

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |line| write!(f, " on line {line}"))
    }
}

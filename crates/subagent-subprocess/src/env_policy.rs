//! What a child inherits of the host's environment when nobody names it. Owns the policies and the names that each of
//! them knows; the variables themselves are `env`'s.

use std::ffi::OsStr;

/// Which variables of the host reach a child by themselves. What is given to a child on purpose goes on top of either.
///
/// Both are rules about names: neither looks into a value. A proxy's URL with a user and a password inside passes both.
///
/// ```
/// use subagent_subprocess::EnvPolicy;
///
/// assert!(EnvPolicy::Scrubbed.passes("DATABASE_URL".as_ref()));
/// assert!(!EnvPolicy::Minimal.passes("DATABASE_URL".as_ref()));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum EnvPolicy {
    /// All but every name that contains `KEY`, `SECRET`, `TOKEN` or `PASSWORD` and every name that starts with `DSH_`,
    /// each in any case.
    #[default]
    Scrubbed,
    /// Of what [`Scrubbed`](Self::Scrubbed) lets through only the names that a command-line program needs: `PATH`,
    /// `HOME`, `USER`, `LOGNAME`, `SHELL`, `TERM`, `TMPDIR`, `LANG`, `LC_*`, `TZ`, `XDG_*`; `HTTP_PROXY`, `HTTPS_PROXY`,
    /// `ALL_PROXY` and `NO_PROXY`, in capitals or in lower case.
    ///
    /// On Windows, where names have no case, also what stands for those there and what no program starts without:
    /// `SystemRoot`, `SystemDrive`, `windir`, `ComSpec`, `PATHEXT`, `PROCESSOR_ARCHITECTURE`, `USERPROFILE`,
    /// `HOMEDRIVE`, `HOMEPATH`, `USERNAME`, `TEMP`, `TMP`, `APPDATA`, `LOCALAPPDATA`, `ProgramData` and `ProgramFiles`.
    Minimal,
}

/// Names that contain one of these, in any case, stay with the host.
const SECRET_PARTS: [&[u8]; 4] = [b"KEY", b"SECRET", b"TOKEN", b"PASSWORD"];

/// Names that start with this, in any case, stay with the host.
const HARNESS_PREFIX: &[u8] = b"DSH_";

/// What a command-line program needs.
const NEEDED: [&[u8]; 17] = [
    b"PATH",
    b"HOME",
    b"USER",
    b"LOGNAME",
    b"SHELL",
    b"TERM",
    b"TMPDIR",
    b"LANG",
    b"TZ",
    b"HTTP_PROXY",
    b"HTTPS_PROXY",
    b"ALL_PROXY",
    b"NO_PROXY",
    // Most programs read these, and some of them only these.
    b"http_proxy",
    b"https_proxy",
    b"all_proxy",
    b"no_proxy",
];

/// It also needs every name that starts with one of these.
const NEEDED_PREFIXES: [&[u8]; 2] = [b"LC_", b"XDG_"];

/// What it needs besides on Windows, in capitals.
const NEEDED_ON_WINDOWS: [&[u8]; 16] = [
    b"SYSTEMROOT",
    b"SYSTEMDRIVE",
    b"WINDIR",
    b"COMSPEC",
    b"PATHEXT",
    b"PROCESSOR_ARCHITECTURE",
    b"USERPROFILE",
    b"HOMEDRIVE",
    b"HOMEPATH",
    b"USERNAME",
    b"TEMP",
    b"TMP",
    b"APPDATA",
    b"LOCALAPPDATA",
    b"PROGRAMDATA",
    b"PROGRAMFILES",
];

impl EnvPolicy {
    /// Every policy.
    pub const VALUES: &'static [Self] = &[Self::Scrubbed, Self::Minimal];

    /// Their words in a configuration file, in the same order.
    pub const WORDS: &'static [&'static str] = &["scrubbed", "minimal"];

    /// The policy's place in [`VALUES`](Self::VALUES) and [`WORDS`](Self::WORDS).
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Whether a variable of the host with this name reaches the child.
    pub fn passes(self, name: &OsStr) -> bool {
        let name = name.as_encoded_bytes();
        match self {
            Self::Scrubbed => !is_secret(name),
            // Not every name with a needed prefix is harmless.
            Self::Minimal => is_needed(name, cfg!(windows)) && !is_secret(name),
        }
    }
}

fn is_secret(name: &[u8]) -> bool {
    let name = name.to_ascii_uppercase();
    name.starts_with(HARNESS_PREFIX)
        || SECRET_PARTS
            .iter()
            .any(|part| name.windows(part.len()).any(|window| window == *part))
}

fn is_needed(name: &[u8], windows: bool) -> bool {
    let among =
        |name: &[u8]| NEEDED.contains(&name) || NEEDED_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    if windows {
        let name = name.to_ascii_uppercase();
        among(&name) || NEEDED_ON_WINDOWS.contains(&name.as_slice())
    } else {
        among(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of `names`, those that pass.
    fn passing<'a>(policy: EnvPolicy, names: &[&'a str]) -> Vec<&'a str> {
        let passes = |name: &&&str| policy.passes(OsStr::new(name));
        names.iter().filter(passes).copied().collect()
    }

    const SECRET: [&str; 9] = [
        "APP_JWT_SIGNING_KEY",
        "GITHUB_TOKEN",
        "AWS_SECRET_ACCESS_KEY",
        "PGPASSWORD",
        "github_token",
        "Pgpassword",
        "monkey",
        "DSH_HOME",
        "dsh_anything",
    ];

    const ORDINARY: [&str; 10] = [
        "PATH",
        "HOME",
        "TMPDIR",
        "LANG",
        "LC_ALL",
        "https_proxy",
        "DATABASE_URL",
        "DSH",
        "MY_DSH_",
        "PASSWD",
    ];

    #[test]
    fn secret_names_stay_with_the_host_in_any_case_and_at_any_place() {
        assert_eq!(passing(EnvPolicy::Scrubbed, &SECRET), [""; 0]);
        assert_eq!(passing(EnvPolicy::Minimal, &SECRET), [""; 0]);
    }

    #[test]
    fn ordinary_names_reach_the_child() {
        assert_eq!(passing(EnvPolicy::Scrubbed, &ORDINARY), ORDINARY);
    }

    #[test]
    fn the_minimal_environment_is_what_a_program_needs_and_nothing_else() {
        let needed = [
            "PATH",
            "HOME",
            "USER",
            "LOGNAME",
            "SHELL",
            "TERM",
            "TMPDIR",
            "LANG",
            "TZ",
            "LC_ALL",
            "LC_MESSAGES",
            "XDG_CONFIG_HOME",
            "XDG_RUNTIME_DIR",
            "HTTP_PROXY",
            "HTTPS_PROXY",
            "ALL_PROXY",
            "NO_PROXY",
            "http_proxy",
            "https_proxy",
            "all_proxy",
            "no_proxy",
        ];
        assert_eq!(passing(EnvPolicy::Minimal, &needed), needed);
        let not_needed = [
            "DATABASE_URL",
            "PASSWD",
            "NETRC",
            "SSH_AUTH_SOCK",
            "LD_PRELOAD",
            "NODE_OPTIONS",
            "PATHS",
            "MY_HOME",
            "LANGUAGE",
            "LC",
            "XDG",
            "TERMINFO",
            "FTP_PROXY",
            "",
        ];
        assert_eq!(passing(EnvPolicy::Minimal, &not_needed), [""; 0]);
    }

    #[test]
    fn a_needed_prefix_does_not_let_a_secret_through() {
        let hidden = ["LC_API_KEY", "XDG_SECRET", "XDG_Token"];
        assert_eq!(passing(EnvPolicy::Minimal, &hidden), [""; 0]);
    }

    #[test]
    fn names_have_no_case_on_windows_and_a_program_needs_more_of_them() {
        for name in ["Path", "path", "SystemRoot", "PATHEXT", "windir", "ProgramFiles"] {
            assert!(is_needed(name.as_bytes(), true), "{name}");
            assert!(!is_needed(name.as_bytes(), false), "{name}");
        }
        assert!(!is_needed(b"OneDrive", true));
    }

    #[test]
    fn each_policy_stands_at_the_place_of_its_word() {
        let places: Vec<_> = EnvPolicy::VALUES.iter().map(|policy| policy.index()).collect();
        assert_eq!(places, [0, 1]);
        assert_eq!(EnvPolicy::WORDS[EnvPolicy::Scrubbed.index()], "scrubbed");
        assert_eq!(EnvPolicy::WORDS[EnvPolicy::Minimal.index()], "minimal");
    }
}

//! The directory of a session: the client's first root, else the host's choice. Owns when the client is asked, and how
//! the address of a root becomes a path.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use rmcp::service::{Peer, RoleServer};
use tokio::sync::Mutex;
use tokio::time::timeout;

/// How long the client may take to tell its roots.
const PATIENCE: Duration = Duration::from_secs(5);

/// The directory of one session.
#[derive(Debug)]
pub(crate) struct Roots {
    otherwise: Option<PathBuf>,
    told: Mutex<Told>,
}

/// What is known of the client's roots.
#[derive(Debug, Default)]
enum Told {
    /// It has not been asked, or said that its answer has changed.
    #[default]
    NotYet,
    /// The first one, if it is a directory of this host.
    First(Option<PathBuf>),
}

impl Roots {
    /// For a client that has not been asked yet; `otherwise` is used when it has no root.
    pub(crate) fn new(otherwise: Option<PathBuf>) -> Self {
        Self {
            otherwise,
            told: Mutex::default(),
        }
    }

    /// The session's directory. Asks the client on the first call, and waits at most [`PATIENCE`] for the answer; a client
    /// that has not answered by then has no root. Cancel-safe.
    pub(crate) async fn directory(&self, peer: &Peer<RoleServer>) -> Option<PathBuf> {
        // Held while the client is asked: whoever comes meanwhile wants the same answer.
        let mut told = self.told.lock().await;
        let first = match &*told {
            Told::First(first) => first.clone(),
            Told::NotYet => {
                let first = first_root(peer).await;
                *told = Told::First(first.clone());
                first
            }
        };
        first.or_else(|| self.otherwise.clone())
    }

    /// Has the client asked again.
    pub(crate) async fn forget(&self) {
        *self.told.lock().await = Told::NotYet;
    }
}

#[expect(
    deprecated,
    reason = "newer protocol versions have no roots; clients of the older ones still name their project so"
)]
async fn first_root(peer: &Peer<RoleServer>) -> Option<PathBuf> {
    peer.peer_info()?.capabilities.roots.as_ref()?;
    let roots = match timeout(PATIENCE, peer.list_roots()).await {
        Ok(Ok(listed)) => listed.roots,
        Ok(Err(error)) => {
            tracing::warn!(%error, "the client did not tell its roots");
            return None;
        }
        Err(_) => {
            tracing::warn!("the client did not tell its roots in time");
            return None;
        }
    };
    let first = roots.first()?;
    let path = path_of(&first.uri);
    if path.is_none() {
        tracing::warn!(uri = first.uri, "the client's first root is no local directory");
    }
    path
}

/// The path that a `file:` address names; `None` for any other, and for one on another host.
fn path_of(uri: &str) -> Option<PathBuf> {
    let scheme = uri
        .get(..5)
        .filter(|scheme| scheme.eq_ignore_ascii_case("file:"))?;
    let rest = &uri[scheme.len()..];
    let encoded = match rest.strip_prefix("//") {
        None => rest,
        Some(rest) => {
            let slash = rest.find('/')?;
            let host = &rest[..slash];
            if !(host.is_empty() || host.eq_ignore_ascii_case("localhost")) {
                return None;
            }
            &rest[slash..]
        }
    };
    // On Windows the drive stands behind the slash.
    let encoded = match encoded.strip_prefix('/') {
        Some(drive) if cfg!(windows) => drive,
        _ => encoded,
    };
    let path = PathBuf::from(os_string(decoded(encoded)?)?);
    path.is_absolute().then_some(path)
}

/// The bytes behind percent signs. `None` when a sign is not followed by two digits, or for a byte that no path has.
fn decoded(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let byte = if byte == b'%' {
            let mut digit = || char::from(rest.next()?).to_digit(16);
            u8::try_from(digit()? * 16 + digit()?).ok()?
        } else {
            byte
        };
        if byte == 0 {
            return None;
        }
        bytes.push(byte);
    }
    Some(bytes)
}

#[cfg(unix)]
#[expect(
    clippy::unnecessary_wraps,
    reason = "the signature is that of the other platforms"
)]
fn os_string(bytes: Vec<u8>) -> Option<OsString> {
    Some(std::os::unix::ffi::OsStringExt::from_vec(bytes))
}

#[cfg(not(unix))]
fn os_string(bytes: Vec<u8>) -> Option<OsString> {
    String::from_utf8(bytes).ok().map(OsString::from)
}

#[cfg(all(test, unix))]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn a_file_address_becomes_a_path() {
        for (uri, path) in [
            ("file:///srv/project", "/srv/project"),
            ("file:///srv/my%20project/%C3%A9", "/srv/my project/é"),
            ("FILE://localhost/srv", "/srv"),
            ("file:/srv", "/srv"),
            ("file:///", "/"),
        ] {
            assert_eq!(path_of(uri).as_deref(), Some(Path::new(path)), "{uri}");
        }
    }

    #[test]
    fn any_other_address_is_no_directory() {
        for uri in [
            "https://example.com/srv",
            "file://elsewhere/srv",
            "file:srv",
            "file://",
            "file:///a%0",
            "file:///a%zz",
            "file:///a%00b",
            "/srv",
            "é",
            "",
        ] {
            assert_eq!(path_of(uri), None, "{uri}");
        }
    }
}

//! Nothing in the repository refers to what lies outside of it: no path of somebody's machine, no path that climbs out of
//! the repository, no host of a package registry. The needles below are written in two pieces, so that this file does
//! not find itself.

use super::finding::Finding;
use super::tree::{Tree, resolve};

/// Where people and build machines keep their files.
const MACHINE_PATHS: &[&str] = &[
    concat!("/ho", "me/"),
    concat!("/ro", "ot/"),
    concat!("/Us", "ers/"),
    concat!("C:\\Us", "ers\\"),
    concat!("/wo", "rk/"),
    concat!("/work", "space/"),
    concat!("/work", "spaces/"),
    concat!("/bui", "lds/"),
];

/// Parts of the names of registry hosts.
const REGISTRY_HOSTS: &[&str] = &[
    concat!("crates", ".io"),
    concat!("npmjs", ".org"),
    concat!("npmjs", ".com"),
    concat!("pypi", ".org"),
    concat!("pythonhosted", ".org"),
    concat!("proxy.golang", ".org"),
];

/// Written by cargo, which names the registry of every package.
const LOCK_FILE: &str = "Cargo.lock";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.texts() {
        for (index, line) in text.lines().enumerate() {
            findings.extend(
                check_line(path, line).map(|message| Finding::at(path, index + 1, "places", message)),
            );
        }
    }
    findings
}

fn check_line<'a>(path: &'a str, line: &'a str) -> impl Iterator<Item = String> + 'a {
    let machine = MACHINE_PATHS.iter().filter(|needle| names_place(line, needle));
    let machine = machine.map(|needle| format!("`{needle}…` is a path of one machine"));
    let hosts = REGISTRY_HOSTS
        .iter()
        .filter(move |host| path != LOCK_FILE && line.contains(**host));
    let hosts = hosts.map(|host| format!("`{host}` is the host of a registry"));
    let outside = climbing(line).filter(|climb| resolve(path, climb).is_none());
    let outside = outside.map(|climb| format!("`{climb}` leaves the repository"));
    machine.chain(hosts).chain(outside)
}

/// Whether an absolute path begins there, rather than a longer path or an address going on.
fn names_place(line: &str, needle: &str) -> bool {
    let goes_on = |character: char| character.is_alphanumeric() || "_-.~/}>)".contains(character);
    line.match_indices(needle)
        .any(|(at, _)| !line[..at].ends_with(goes_on))
}

/// The relative paths of a line that go up.
fn climbing(line: &str) -> impl Iterator<Item = &str> {
    let is_path = |character: char| character.is_alphanumeric() || "_-./".contains(character);
    let words = line.split(move |character| !is_path(character));
    words.filter(|word| !word.starts_with('/') && word.split('/').rev().skip(1).any(|part| part == ".."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(path: &str, text: &str) -> Vec<String> {
        check(&Tree::of(&[(path, text)]))
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn every_path_of_a_machine_is_found() {
        for needle in MACHINE_PATHS {
            let expected = format!("docs/a.md:2: `{needle}…` is a path of one machine [places]");
            assert_eq!(findings("docs/a.md", &format!("see\n`{needle}x`\n")), [expected]);
        }
    }

    #[test]
    fn a_longer_path_or_an_address_is_not_found() {
        let needle = MACHINE_PATHS[0];
        for before in ["example.org", "$X", "${X}", "src", "<dir>", "~"] {
            assert!(
                findings("a.md", &format!("{before}{needle}x")).is_empty(),
                "{before}"
            );
        }
    }

    #[test]
    fn every_registry_host_is_found_but_not_in_the_lock_file() {
        for host in REGISTRY_HOSTS {
            assert_eq!(
                findings("a.toml", host),
                [format!("a.toml:1: `{host}` is the host of a registry [places]")]
            );
            assert!(findings(LOCK_FILE, host).is_empty());
        }
    }

    #[test]
    fn a_path_that_climbs_out_is_found() {
        let out = concat!("..", "/shared/a.md");
        assert_eq!(
            findings("README.md", out),
            [format!("README.md:1: `{out}` leaves the repository [places]")]
        );
        assert!(
            findings("docs/a.md", out).is_empty(),
            "it stays inside from there"
        );
        let far = format!("include_str!(\"{}\")", "../".repeat(2) + out);
        assert!(findings("crates/a/src/lib.rs", &far).is_empty());
        assert_eq!(findings("crates/a/lib.rs", &far).len(), 1);
    }

    #[test]
    fn dots_that_are_no_path_are_not_found() {
        for text in ["a..b", "0../x", ".../x", "..", "https://example.org/../a"] {
            assert!(findings("a.md", text).is_empty(), "{text}");
        }
    }
}

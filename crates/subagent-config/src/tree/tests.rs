//! Tests of the tree: positions, notation, tags, and the bounds.

use super::*;

fn at(line: usize, column: usize) -> Position {
    Position { line, column }
}

fn map(text: &str) -> Map {
    match parse(text).unwrap().value {
        Value::Map(map) => map,
        other => panic!("expected a mapping, found {other:?}"),
    }
}

fn value(text: &str) -> Value {
    let mut map = map(&format!("a: {text}\n"));
    assert_eq!(map.faults, []);
    map.entries.remove(0).1.value
}

#[test]
fn keys_and_values_know_their_line_and_character_column() {
    let map = map("ä: 1\nlist:\n  - x\n  - ü: !env Y\n");
    assert_eq!(map.entries[0].0.at, at(1, 1));
    assert_eq!(map.entries[0].1.at, at(1, 4));
    assert_eq!(map.entries[1].0.at, at(2, 1));
    let Value::List(list) = &map.entries[1].1.value else {
        panic!("expected a list");
    };
    assert_eq!(list[0].at, at(3, 5));
    assert_eq!(list[1].at, at(4, 5));
    let Value::Map(inner) = &list[1].value else {
        panic!("expected a mapping");
    };
    assert_eq!(inner.entries[0].1.at, at(4, 8));
    assert_eq!(inner.entries[0].1.value, Value::Variable("Y".to_owned()));
}

#[test]
fn only_true_and_false_are_booleans_and_quotes_make_text() {
    let text = |text: &str| Value::Text(text.to_owned());
    assert_eq!(value("true"), Value::Flag(true));
    for word in [
        "yes", "on", "True", "FALSE", "inf", "nan", "infinity", "1_000", "0x", "1e", ".",
    ] {
        assert_eq!(value(word), text(word), "{word}");
    }
    assert_eq!(value("'true'"), text("true"));
    assert_eq!(value("\"5\""), text("5"));
    assert_eq!(value("! 5"), text("5"));
    assert_eq!(value("!!str 5"), text("5"));
    assert_eq!(value("|\n  5\n"), text("5\n"));
    assert_eq!(value("~"), Value::Null);
    assert_eq!(value(""), Value::Null);
}

#[test]
fn numbers_are_those_of_yaml() {
    assert_eq!(value("-7"), Value::Integer(-7));
    assert_eq!(value("0x10"), Value::Integer(16));
    assert_eq!(value("0o17"), Value::Integer(15));
    assert_eq!(value("1.5"), Value::Float(1.5));
    assert_eq!(value(".5"), Value::Float(0.5));
    assert_eq!(value("1e3"), Value::Float(1000.0));
    assert_eq!(value("-.inf"), Value::Float(f64::NEG_INFINITY));
    assert!(matches!(value(".nan"), Value::Float(number) if number.is_nan()));
    assert!(matches!(value(&"9".repeat(60)), Value::Float(_)));
    assert_eq!(value("!!float 1"), Value::Integer(1));
}

#[test]
fn both_notations_of_a_host_variable_are_the_same() {
    let variable = Value::Variable("API_KEY".to_owned());
    assert_eq!(value("!env API_KEY # from the shell"), variable);
    assert_eq!(value("!env 'API_KEY'"), variable);
    assert_eq!(value("!!js process.env.API_KEY"), variable);
    assert_eq!(value("!!js 'process.env.API_KEY '"), variable);
    assert_eq!(value("!<tag:yaml.org,2002:js> process.env.API_KEY"), variable);
}

#[test]
fn any_other_expression_is_refused() {
    for expression in [
        "process.env",
        "process.env.",
        "process.env.A-B",
        "process.env.1A",
        "process.env.A.length",
        "process.env['A']",
        "process.exit(1)",
        "1 + 1",
        "''",
    ] {
        let value = value(&format!("!!js {expression}"));
        assert!(
            matches!(value, Value::Refused(Problem::Expression, _)),
            "{expression}: {value:?}"
        );
    }
}

#[test]
fn any_other_tag_is_refused_and_a_near_one_is_suggested() {
    let hint = |text: &str| match value(text) {
        Value::Refused(Problem::UnknownTag, hint) => hint,
        other => panic!("{text}: {other:?}"),
    };
    assert_eq!(hint("!enw X"), Some("did you mean !env?"));
    assert_eq!(hint("!ENV X"), Some("did you mean !env?"));
    assert_eq!(hint("!js process.env.X"), Some("did you mean !!js?"));
    assert_eq!(hint("!!env X"), Some("did you mean !env?"));
    let quote = "put the value in quotes if it is meant as text";
    assert_eq!(hint("!hunter2"), Some(quote));
    assert_eq!(hint("!!binary aGk="), Some(quote));
    assert_eq!(hint("!thing [1]"), Some(quote));
    for misfit in ["!!int x", "!!seq x", "!!str [x]", "!env [x]", "!!js {a: b}"] {
        let value = value(misfit);
        assert!(
            matches!(value, Value::Refused(Problem::Unsupported { .. }, _)),
            "{misfit}: {value:?}"
        );
    }
    assert!(matches!(value("!env"), Value::Refused(Problem::VariableName, _)));
}

#[test]
fn a_duplicate_key_is_a_fault_and_the_first_one_stays() {
    let map = map("a: 1\nb: 2\na: 3\n<<: {c: 4}\n? [x]\n: 5\n!env b: 6\n");
    let entries: Vec<_> = map
        .entries
        .iter()
        .map(|(key, node)| (&*key.name, &node.value))
        .collect();
    assert_eq!(entries, [("a", &Value::Integer(1)), ("b", &Value::Integer(2))]);
    assert_eq!(map.faults.len(), 4);
    assert_eq!(map.faults[0].problem, Problem::DuplicateKey { first: 1 });
    assert_eq!(map.faults[0].at, at(3, 1));
}

#[test]
fn an_alias_is_a_copy_that_stands_where_it_is_used() {
    let map = map("a: &x [1]\nb: *x\nc: *none\nd: &y [*y]\n");
    assert_eq!(map.entries[1].1.value, map.entries[0].1.value);
    assert_eq!(map.entries[1].1.at, at(2, 4));
    assert!(matches!(map.entries[2].1.value, Value::Refused(..)));
    let Value::List(own) = &map.entries[3].1.value else {
        panic!("expected a list");
    };
    assert!(matches!(own[0].value, Value::Refused(..)));
}

#[test]
fn a_few_lines_of_aliases_cannot_become_many_values() {
    use std::fmt::Write as _;
    let mut text = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n".to_owned();
    for level in 1..40 {
        let below = format!("*a{}, ", level - 1).repeat(10);
        writeln!(text, "a{level}: &a{level} [{below}]").unwrap();
    }
    let fatal = parse(&text).unwrap_err();
    assert_eq!(fatal.problem, Problem::TooComplex);
}

#[test]
fn aliases_of_a_long_text_are_bounded_too() {
    let text = format!("a: &a {}\nb: [{}]\n", "x".repeat(500_000), "*a, ".repeat(100));
    assert_eq!(parse(&text).unwrap_err().problem, Problem::TooComplex);
}

#[test]
fn a_deep_file_is_refused() {
    let fatal = parse(&"[".repeat(100_000)).unwrap_err();
    assert!(matches!(fatal.problem, Problem::Syntax { .. }), "{fatal:?}");
}

#[test]
fn a_file_has_one_document_and_may_be_empty() {
    assert_eq!(parse("").unwrap().value, Value::Null);
    assert_eq!(parse("# nothing\n").unwrap().value, Value::Null);
    assert_eq!(parse("\u{feff}--- 1\n...\n").unwrap().value, Value::Integer(1));
    let fatal = parse("--- 1\n--- 2\n").unwrap_err();
    assert_eq!((fatal.problem, fatal.at), (Problem::SeveralDocuments, at(2, 1)));
}

#[test]
fn a_syntax_error_has_a_position() {
    let fatal = parse("a: [1,\nb: 2\n").unwrap_err();
    assert!(matches!(fatal.problem, Problem::Syntax { .. }), "{fatal:?}");
    assert_eq!(fatal.at, at(1, 4));
}

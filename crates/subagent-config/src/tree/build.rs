//! From the events of the YAML parser to the tree. Owns positions, duplicate keys, aliases and the bound on what they
//! expand to.
//!
//! The parser's events are read here instead of a deserializer's values because a configuration's errors are collected:
//! a deserializer ends at its first one, and gives tags and positions only to types that wrap every value in both.

use std::collections::HashMap;

use granit_parser::{Event, Marker, Parser, ScanError, Span, StrInput};

use super::scalar::{collection_tag, key, scalar};
use super::{Fatal, Fault, Key, MAX_NODES, Map, Node, Value};
use crate::error::Position;
use crate::problem::Problem;

/// How deep lists and mappings may lie in each other.
const MAX_DEPTH: usize = 32;

/// How many bytes of text count as one more value, so that aliases of long texts are bounded too.
const TEXT_PER_VALUE: usize = 64;

const WRITE_OUT: Option<&str> = Some("write the value out, or put it in quotes if it begins with *");

/// The tree of the only document of `text`.
pub(crate) fn parse(text: &str) -> Result<Node, Fatal> {
    let options = granit_parser::options! {
        emit_comments: false,
        emit_unresolved_aliases: true,
        flow_nesting_limit: MAX_DEPTH,
        block_nesting_limit: MAX_DEPTH,
    };
    let mut builder = Builder {
        events: Parser::new_from_str_with_options(text, options),
        anchors: HashMap::new(),
        nodes: 0,
    };
    let mut document = None;
    while let Some((event, at)) = builder.next()? {
        match event {
            Event::DocumentStart(..) if document.is_some() => {
                return Err(Fatal {
                    at,
                    problem: Problem::SeveralDocuments,
                    hint: Some("put all entries into one list"),
                });
            }
            event if event.is_node() => document = Some(builder.node(event, at)?),
            _ => {}
        }
    }
    Ok(document.unwrap_or(Node {
        value: Value::Null,
        at: Position { line: 1, column: 1 },
    }))
}

struct Builder<'text> {
    events: Parser<'text, StrInput<'text>>,
    /// Finished nodes by the parser's number of their anchor, with how many values each has.
    anchors: HashMap<usize, (Node, usize)>,
    nodes: usize,
}

impl<'text> Builder<'text> {
    fn next(&mut self) -> Result<Option<(Event<'text>, Position)>, Fatal> {
        match self.events.next_event() {
            None => Ok(None),
            Some(Ok((event, span))) => Ok(Some((event, begin(&span)))),
            Some(Err(error)) => Err(syntax(&error)),
        }
    }

    /// The event after which a node must still be complete.
    fn inside(&mut self) -> Result<(Event<'text>, Position), Fatal> {
        // The parser itself reports an unfinished node, so that its events never just end inside one.
        self.next()?.ok_or(Fatal {
            at: Position { line: 1, column: 1 },
            problem: Problem::Syntax {
                detail: "unexpected end".to_owned(),
            },
            hint: None,
        })
    }

    fn node(&mut self, event: Event<'text>, at: Position) -> Result<Node, Fatal> {
        let before = self.nodes;
        let text = event.scalar().map_or(0, |(text, _)| text.len());
        self.count(1 + text / TEXT_PER_VALUE, at)?;
        let anchor = event.anchor_id();
        let value = match event {
            Event::Scalar(text, style, _, tag) => scalar(&text, style, tag.as_deref()),
            Event::SequenceStart(_, _, tag) => {
                let list = self.list()?;
                collection_tag(tag.as_deref(), "seq").unwrap_or(Value::List(list))
            }
            Event::MappingStart(_, _, tag) => {
                let map = self.map()?;
                collection_tag(tag.as_deref(), "map").unwrap_or(Value::Map(map))
            }
            Event::Alias(id) => self.alias(id, at)?,
            _ => unresolved(),
        };
        let node = Node { value, at };
        if let Some(anchor) = anchor {
            self.anchors.insert(anchor, (node.clone(), self.nodes - before));
        }
        Ok(node)
    }

    fn list(&mut self) -> Result<Vec<Node>, Fatal> {
        let mut nodes = Vec::new();
        loop {
            match self.inside()? {
                (Event::SequenceEnd, _) => return Ok(nodes),
                (event, at) => nodes.push(self.node(event, at)?),
            }
        }
    }

    fn map(&mut self) -> Result<Map, Fatal> {
        let mut map = Map::default();
        loop {
            let (event, at) = self.inside()?;
            if matches!(event, Event::MappingEnd) {
                return Ok(map);
            }
            let name = match &event {
                Event::Scalar(text, _, _, tag) => key(text, tag.as_deref()),
                _ => None,
            };
            self.node(event, at)?;
            let (event, value_at) = self.inside()?;
            let value = self.node(event, value_at)?;
            map.add(name, at, value);
        }
    }

    /// A copy of what the alias stands for. The copy stands where the alias does.
    fn alias(&mut self, id: usize, at: Position) -> Result<Value, Fatal> {
        // An alias inside its own anchor: that node is not finished.
        let Some((_, size)) = self.anchors.get(&id) else {
            return Ok(unresolved());
        };
        self.count(*size, at)?;
        Ok(self
            .anchors
            .get(&id)
            .map_or(Value::Null, |(node, _)| node.value.clone()))
    }

    fn count(&mut self, nodes: usize, at: Position) -> Result<(), Fatal> {
        self.nodes = self.nodes.saturating_add(nodes);
        if self.nodes <= MAX_NODES {
            return Ok(());
        }
        Err(Fatal {
            at,
            problem: Problem::TooComplex,
            hint: None,
        })
    }
}

impl Map {
    fn add(&mut self, name: Option<String>, at: Position, value: Node) {
        let fault = match name {
            None => Fault {
                key: None,
                at,
                problem: Problem::Unsupported {
                    feature: "a key that is not plain text",
                },
                hint: None,
            },
            Some(name) if name == "<<" => Fault {
                key: Some(name),
                at,
                problem: Problem::Unsupported {
                    feature: "a merge key",
                },
                hint: Some("repeat the keys"),
            },
            Some(name) => match self.entries.iter().find(|(key, _)| key.name == name) {
                None => {
                    self.entries.push((Key { name, at }, value));
                    return;
                }
                Some((first, _)) => Fault {
                    key: Some(name),
                    at,
                    problem: Problem::DuplicateKey { first: first.at.line },
                    hint: None,
                },
            },
        };
        self.faults.push(fault);
    }
}

fn unresolved() -> Value {
    Value::Refused(
        Problem::Unsupported {
            feature: "an alias without an anchor before it",
        },
        WRITE_OUT,
    )
}

fn begin(span: &Span) -> Position {
    // The tag belongs to the value.
    position(&span.tag_start().unwrap_or(span.start))
}

fn position(marker: &Marker) -> Position {
    Position {
        line: marker.line(),
        column: marker.col() + 1,
    }
}

fn syntax(error: &ScanError) -> Fatal {
    Fatal {
        at: position(error.marker()),
        problem: Problem::Syntax {
            detail: error.kind().to_string(),
        },
        hint: None,
    }
}

//! Mappings from environment variables of the child. Owns their names and the one rule that no value is shown.

use std::ffi::OsString;

use super::Scope;
use crate::error::Position;
use crate::problem::Problem;
use crate::tree::{Node, Value, is_variable_name};

/// A variable of the child: its name and where that stands.
pub(crate) struct Variable {
    pub(crate) name: String,
    pub(crate) at: Position,
}

impl Scope<'_> {
    /// A mapping from variables to values that are not read yet.
    pub(crate) fn variables(&mut self, key: &str, node: Node) -> Vec<(Variable, Node)> {
        let Value::Map(map) = node.value else {
            let hint = Some("write a mapping from names to values, or leave the key out");
            self.mismatch::<()>(key, &node, "a mapping", hint);
            return Vec::new();
        };
        self.faults(&map, &format!("{key}."));
        let mut variables = Vec::new();
        for (name, value) in map.entries {
            if is_variable_name(&name.name) {
                let variable = Variable {
                    name: name.name,
                    at: name.at,
                };
                variables.push((variable, value));
            } else {
                self.fail(name.at, key, Problem::VariableName, None);
            }
        }
        variables
    }

    /// The value of a variable of the child; `None` without an error if it names a host variable that is not set.
    pub(crate) fn variable_value(&mut self, key: &str, node: Node) -> Option<OsString> {
        if let Value::Variable(name) = &node.value
            && self.host.variable(name).is_none()
        {
            return None;
        }
        if node.value == Value::Null {
            let hint = Some("write '' for an empty value, or leave it out");
            return self.mismatch(key, &node, "a string", hint);
        }
        self.os_text(key, node)
    }
}

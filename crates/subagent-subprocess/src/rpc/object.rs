//! Reading a member of a frame into a type of the owner's. Owns the one rule that a derived reader lacks.

use serde::Deserialize;
use serde_json::value::RawValue;

/// Reads an object. Any other value is none, also an array, which a derived reader would take member by member.
///
/// ```
/// use serde_json::value::RawValue;
/// use subagent_subprocess::rpc::read_object;
///
/// #[derive(serde::Deserialize)]
/// struct Named { name: String }
///
/// let read = |text: &str| {
///     let raw = RawValue::from_string(text.to_owned()).unwrap();
///     read_object::<Named>(&raw).map(|named| named.name)
/// };
/// assert_eq!(read(r#"{"name":"a","more":1}"#).as_deref(), Some("a"));
/// assert_eq!(read(r#"["a"]"#), None);
/// assert_eq!(read("null"), None);
/// ```
pub fn read_object<'a, T: Deserialize<'a>>(raw: &'a RawValue) -> Option<T> {
    if raw.get().starts_with('{') {
        serde_json::from_str(raw.get()).ok()
    } else {
        None
    }
}

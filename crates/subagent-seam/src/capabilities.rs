//! What a provider can honour at the start of a run. Owns the flags and the check of a request against them; the
//! registry decides what happens when one is missing.

use crate::{StartFeatures, closed_words};

closed_words! {
    /// A start feature that a request may ask for and a provider may support.
    pub enum Feature {
        /// A schema that the result must satisfy.
        OutputSchema = "output_schema",
        /// A limit on further delegation, enforced by the provider.
        DepthLimit = "max_depth",
        /// A restriction of the child's tools.
        ToolFilter = "tool_filter",
        /// A persona for the child.
        Persona = "persona",
    }
}

/// One flag for each start feature.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each flag is an independent capability"
)]
pub struct Capabilities {
    /// The provider makes the child answer in a given schema.
    pub output_schema: bool,
    /// The provider enforces a depth limit itself.
    pub depth_limit: bool,
    /// The provider can restrict the child's tools.
    pub tool_filter: bool,
    /// The provider can give the child a persona.
    pub persona: bool,
}

/// No start feature at all: what every out-of-process provider advertises, since no feature crosses its wire.
pub const NO_START_CAPABILITIES: Capabilities = Capabilities {
    output_schema: false,
    depth_limit: false,
    tool_filter: false,
    persona: false,
};

impl Capabilities {
    /// The first feature that `wanted` asks for and these capabilities lack.
    pub fn missing(self, wanted: &StartFeatures) -> Option<Feature> {
        [
            (
                wanted.output_schema.is_some(),
                self.output_schema,
                Feature::OutputSchema,
            ),
            (wanted.max_depth.is_some(), self.depth_limit, Feature::DepthLimit),
            (
                wanted.tool_filter.is_some(),
                self.tool_filter,
                Feature::ToolFilter,
            ),
            (wanted.persona.is_some(), self.persona, Feature::Persona),
        ]
        .into_iter()
        .find_map(|(asked, offered, feature)| (asked && !offered).then_some(feature))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ClosedWord, ToolFilter};

    fn asking(feature: Feature) -> StartFeatures {
        let mut features = StartFeatures::default();
        match feature {
            Feature::OutputSchema => features.output_schema = Some(serde_json::json!({})),
            Feature::DepthLimit => features.max_depth = Some(1),
            Feature::ToolFilter => features.tool_filter = Some(ToolFilter::default()),
            Feature::Persona => features.persona = Some("critic".to_owned()),
        }
        features
    }

    #[test]
    fn each_feature_is_missing_unless_its_own_flag_stands() {
        for feature in Feature::VALUES.iter().copied() {
            assert_eq!(NO_START_CAPABILITIES.missing(&asking(feature)), Some(feature));
            let offering = Capabilities {
                output_schema: feature == Feature::OutputSchema,
                depth_limit: feature == Feature::DepthLimit,
                tool_filter: feature == Feature::ToolFilter,
                persona: feature == Feature::Persona,
            };
            assert_eq!(offering.missing(&asking(feature)), None);
        }
    }

    #[test]
    fn a_plain_request_misses_nothing() {
        assert_eq!(NO_START_CAPABILITIES.missing(&StartFeatures::default()), None);
    }
}

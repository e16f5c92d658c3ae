//! The model-facing delegation tool over any provider

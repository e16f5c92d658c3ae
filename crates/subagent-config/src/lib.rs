//! Turns a configuration file into providers and tools

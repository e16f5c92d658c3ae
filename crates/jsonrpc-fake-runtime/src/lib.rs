//! A scripted fake agent runtime for tests of programs that drive agents over stdio JSON-RPC

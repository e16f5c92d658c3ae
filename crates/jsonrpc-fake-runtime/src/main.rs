//! The binary `jsonrpc-fake-runtime`. Everything is in the library, so that another package can have the same in one line.

use std::process::ExitCode;

fn main() -> ExitCode {
    jsonrpc_fake_runtime::main()
}

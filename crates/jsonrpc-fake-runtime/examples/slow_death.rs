//! A fake that takes long to die, of whatever: it has thousands of threads, and all of them yield to everybody else. Owns
//! nothing but them; what it says until then stands in its script.

use std::process::ExitCode;
use std::thread;

/// Each costs the kernel some ten microseconds at the end, one after the other.
const THREADS: usize = 4_000;

fn main() -> ExitCode {
    #[cfg(unix)]
    let _ = rustix::process::nice(19);
    for _ in 0..THREADS {
        let sleeper = thread::Builder::new().stack_size(16 * 1024).spawn(|| {
            loop {
                thread::park();
            }
        });
        // A system that allows fewer makes a quicker death, and the test that needs a slow one says so.
        if sleeper.is_err() {
            break;
        }
    }
    jsonrpc_fake_runtime::main()
}

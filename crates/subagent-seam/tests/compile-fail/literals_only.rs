//! The macro takes literals only: not even a constant, which could be made of anything.

use subagent_seam::closed_words;

const ELSEWHERE: &str = "a constant";

closed_words! { enum Named { Title = ELSEWHERE } }

fn main() {}

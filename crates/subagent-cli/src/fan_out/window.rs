//! The results between their end and their turn. Owns the order of printing, and the bound of what may wait: a slow task
//! must not let the results after it pile up.

use std::collections::BTreeMap;

/// Tasks that may be under way for each that may run: a task that is slow by so much holds up nobody.
const WINDOW_PER_JOB: usize = 4;

/// Bytes of results that may wait, in all, before nothing more is started. What runs by then may add to it.
const MAX_WAITING_BYTES: usize = 64 << 20;

/// Results of tasks that are numbered from 0, without a gap.
#[derive(Debug)]
pub(super) struct Window {
    limit: usize,
    turn: u64,
    waiting: BTreeMap<u64, String>,
    bytes: usize,
    closed: bool,
}

impl Window {
    /// For `limit` tasks at once.
    pub(super) fn of(limit: usize) -> Self {
        Self {
            limit,
            turn: 0,
            waiting: BTreeMap::new(),
            bytes: 0,
            closed: false,
        }
    }

    /// Whether one more task may start beside so many that run.
    pub(super) fn has_room(&self, running: usize) -> bool {
        running < self.limit
            && running + self.waiting.len() < self.limit * WINDOW_PER_JOB
            && self.bytes < MAX_WAITING_BYTES
    }

    /// Takes the result of the task with this number.
    pub(super) fn insert(&mut self, place: u64, result: String) {
        if !self.closed {
            self.bytes += result.len();
            self.waiting.insert(place, result);
        }
    }

    /// The result whose turn it is, if it is there.
    pub(super) fn next(&mut self) -> Option<String> {
        let result = self.waiting.remove(&self.turn)?;
        self.turn += 1;
        self.bytes -= result.len();
        Some(result)
    }

    /// Forgets all results, and those to come.
    pub(super) fn close(&mut self) {
        self.closed = true;
        self.waiting.clear();
        self.bytes = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_out_in_order_whatever_the_order_they_came_in() {
        let mut window = Window::of(2);
        window.insert(1, "one".to_owned());
        assert_eq!(window.next(), None);
        window.insert(0, "zero".to_owned());
        assert_eq!(window.next().as_deref(), Some("zero"));
        assert_eq!(window.next().as_deref(), Some("one"));
        assert_eq!(window.next(), None);
    }

    #[test]
    fn no_more_run_than_may() {
        let window = Window::of(2);
        assert!(window.has_room(1));
        assert!(!window.has_room(2));
    }

    #[test]
    fn nothing_is_started_while_too_many_results_wait_for_one() {
        let mut window = Window::of(2);
        // The first task goes on, and all others have ended.
        for place in 1..=6 {
            assert!(window.has_room(1), "{place}");
            window.insert(place, String::new());
        }
        window.insert(7, String::new());
        assert!(!window.has_room(1));
        window.insert(0, String::new());
        while window.next().is_some() {}
        assert!(window.has_room(1));
    }

    #[test]
    fn nothing_is_started_while_too_large_results_wait_for_one() {
        let mut window = Window::of(8);
        window.insert(1, "x".repeat(MAX_WAITING_BYTES - 1));
        assert!(window.has_room(1));
        window.insert(2, "x".to_owned());
        assert!(!window.has_room(1));
        window.insert(0, String::new());
        while window.next().is_some() {}
        assert!(window.has_room(1));
    }

    #[test]
    fn a_closed_window_keeps_nothing() {
        let mut window = Window::of(1);
        window.insert(0, "zero".to_owned());
        window.close();
        window.insert(1, "one".to_owned());
        assert_eq!(window.next(), None);
        assert!(window.has_room(0));
    }
}

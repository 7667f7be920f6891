//! Trees of requests: the response to one lets others begin.

use std::ops::Range;

/// Trees that are all alike. Requests are numbered tree by tree, and in a tree level by level.
#[derive(Debug)]
pub(crate) struct Trees {
    /// Requests that a response lets begin, on all levels but the last.
    fan_out: usize,
    /// Requests of a tree.
    size: usize,
    /// Of each tree, requests that are not over.
    left: Vec<usize>,
}

impl Trees {
    /// # Arguments
    /// * `count` - how many trees there are.
    /// * `fan_out` - requests that a response lets begin.
    /// * `depth` - levels; with one, each request is a tree.
    pub(crate) fn new(count: usize, fan_out: usize, depth: u32) -> Self {
        let size = size(fan_out, depth);
        Self { fan_out, size, left: vec![size; count] }
    }

    /// One more tree.
    pub(crate) fn plant(&mut self) {
        self.left.push(self.size);
    }

    /// Whether a request waits for no response.
    pub(crate) fn is_root(&self, request: usize) -> bool {
        request % self.size == 0
    }

    /// Requests that wait for a response.
    pub(crate) fn children(&self, request: usize) -> Range<usize> {
        let (root, place) = (request - request % self.size, request % self.size);
        let first = place * self.fan_out + 1;
        let [from, to] = [first, first + self.fan_out].map(|place| root + place.min(self.size));
        from..to
    }

    /// A request is over.
    ///
    /// # Returns
    /// Whether it was the last of its tree.
    pub(crate) fn over(&mut self, request: usize) -> bool {
        let left = &mut self.left[request / self.size];
        *left -= 1;
        *left == 0
    }
}

/// Requests of a tree.
pub(crate) fn size(fan_out: usize, depth: u32) -> usize {
    (0..depth).map(|level| fan_out.saturating_pow(level)).fold(0, usize::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_request_but_the_roots_waits_for_one() {
        for (fan_out, depth) in [(1, 1), (1, 4), (2, 3), (5, 2), (3, 4)] {
            let trees = Trees::new(2, fan_out, depth);
            let all = 2 * size(fan_out, depth);
            let mut waiting: Vec<usize> = (0..all).flat_map(|one| trees.children(one)).collect();
            waiting.sort_unstable();
            let others: Vec<usize> = (0..all).filter(|&one| !trees.is_root(one)).collect();
            assert_eq!(waiting, others);
        }
        assert_eq!(Trees::new(2, 2, 3).children(8), 10..12);
    }

    #[test]
    fn a_tree_is_over_with_its_last_request() {
        let mut trees = Trees::new(2, 2, 2);
        let over: Vec<bool> = [0, 3, 1, 2, 5, 4].map(|request| trees.over(request)).into();
        assert_eq!(over, [false, false, false, true, false, true]);
        assert!(Trees::new(1, 0, 1).over(0));
    }
}

/* SPDX-License-Identifier: MIT */
//! Which lines hold a word.
use std::collections::BTreeMap;

include!(concat!(env!("OUT_DIR"), "/stopwords.rs"));

#[derive(Default)]
pub struct Index {
    lines: BTreeMap<String, Vec<usize>>,
}

impl Index {
    pub fn add(&mut self, number: usize, line: &str) {
        let words = line
            .split(|c: char| !c.is_alphanumeric())
            .map(str::to_lowercase)
            .filter(|w| !w.is_empty() && !STOPWORDS.contains(&w.as_str()));
        for word in words {
            let at = self.lines.entry(word).or_default();
            if at.last() != Some(&number) {
                at.push(number);
            }
        }
    }

    pub fn find(&self, word: &str) -> &[usize] {
        self.lines.get(&word.to_lowercase()).map_or(&[], Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::Index;

    #[test]
    fn finds_every_line_once() {
        let mut index = Index::default();
        for (number, line) in ["The word, the word", "another", "a Word"].iter().enumerate() {
            index.add(number, line);
        }
        assert_eq!(index.find("word"), [0, 2]);
        assert!(index.find("the").is_empty());
    }
}

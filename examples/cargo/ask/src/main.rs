/* SPDX-License-Identifier: MIT */
use std::{env, io, io::BufRead, process::exit};

fn main() -> io::Result<()> {
    let word = env::args().nth(1).unwrap_or_else(|| {
        eprintln!("usage: ask WORD < TEXT");
        exit(2)
    });
    let mut index = index::Index::default();
    for (number, line) in io::stdin().lock().lines().enumerate() {
        index.add(number + 1, &line?);
    }
    for number in index.find(&word) {
        println!("{number}");
    }
    Ok(())
}

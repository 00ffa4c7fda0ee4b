//! The Schulze method: whom a group prefers, from what each of them prefers.

use serde::{Deserialize, Serialize};

/// A ballot: groups of candidates, by number, the best first. Those left out come last, together.
pub type Ballot = Vec<Vec<usize>>;

/// A square of numbers, one for each pair of candidates.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Matrix {
    size: usize,
    cells: Vec<u32>,
}

impl Matrix {
    fn zero(size: usize) -> Matrix {
        Matrix { size, cells: vec![0; size * size] }
    }

    /// What the one has over the other.
    pub fn at(&self, one: usize, other: usize) -> u32 {
        self.cells.get(one * self.size + other).copied().unwrap_or(0)
    }

    fn raise(&mut self, one: usize, other: usize, to: u32) {
        if let Some(cell) = self.cells.get_mut(one * self.size + other) {
            *cell = to;
        }
    }

    /// Row by row.
    pub fn rows(&self) -> Vec<Vec<u32>> {
        (0..self.size).map(|one| (0..self.size).map(|other| self.at(one, other)).collect()).collect()
    }
}

/// What a group prefers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schulze {
    /// How many ballots prefer the one to the other.
    pub preferred: Matrix,
    /// How strong the strongest path from the one to the other is.
    pub strongest: Matrix,
    /// How many others each candidate beats.
    pub wins: Vec<usize>,
    /// The candidates by wins, the most first; those with as many share a place.
    pub ranking: Vec<Vec<usize>>,
}

/// What these ballots prefer among so many candidates.
pub fn schulze(candidates: usize, ballots: &[Ballot]) -> Schulze {
    ranked(preferences(candidates, ballots))
}

/// What follows from how many prefer the one to the other.
pub(super) fn ranked(preferred: Matrix) -> Schulze {
    let candidates = preferred.size;
    let strongest = paths(candidates, &preferred);
    let beats = |one: usize, other: usize| strongest.at(one, other) > strongest.at(other, one);
    let wins: Vec<_> = (0..candidates).map(|one| (0..candidates).filter(|other| beats(one, *other)).count()).collect();
    let mut by_wins: Vec<_> = wins.iter().copied().enumerate().collect();
    by_wins.sort_by_key(|(candidate, wins)| (std::cmp::Reverse(*wins), *candidate));
    let places = by_wins.chunk_by(|(_, one), (_, other)| one == other);
    let ranking = places.map(|place| place.iter().map(|(candidate, _)| *candidate).collect()).collect();
    Schulze { preferred, strongest, wins, ranking }
}

/// How many of these ballots prefer the one to the other.
pub(super) fn preferences(candidates: usize, ballots: &[Ballot]) -> Matrix {
    let mut preferred = Matrix::zero(candidates);
    for ballot in ballots {
        let mut places = vec![ballot.len(); candidates];
        for (place, group) in ballot.iter().enumerate() {
            for candidate in group {
                if let Some(own) = places.get_mut(*candidate) {
                    *own = place;
                }
            }
        }
        for (one, its) in places.iter().enumerate() {
            for (other, _) in places.iter().enumerate().filter(|(_, others)| its < others) {
                preferred.raise(one, other, preferred.at(one, other) + 1);
            }
        }
    }
    preferred
}

fn paths(candidates: usize, preferred: &Matrix) -> Matrix {
    let mut strongest = Matrix::zero(candidates);
    for one in 0..candidates {
        for other in 0..candidates {
            if preferred.at(one, other) > preferred.at(other, one) {
                strongest.raise(one, other, preferred.at(one, other));
            }
        }
    }
    for via in 0..candidates {
        for from in (0..candidates).filter(|from| *from != via) {
            for to in (0..candidates).filter(|to| *to != via && *to != from) {
                let detour = strongest.at(from, via).min(strongest.at(via, to));
                strongest.raise(from, to, strongest.at(from, to).max(detour));
            }
        }
    }
    strongest
}

#[cfg(test)]
mod tests;

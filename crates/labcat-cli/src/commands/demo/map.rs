//! A function of two parameters as a coloured map: two pixels to a character, by the upper half block.

use crate::functions::Function;

/// Characters across and rows down.
const WIDTH: usize = 44;
const ROWS: usize = 18;
const HEIGHT: usize = 2 * ROWS;

/// Red, green, blue.
type Colour = [u8; 3];

pub(super) const POINT: Colour = [255, 255, 255];
pub(super) const NEWEST: Colour = [255, 90, 210];
pub(super) const BEST: Colour = [235, 30, 30];
pub(super) const REGION: Colour = [255, 150, 30];

/// From low (dark blue) through green to high (yellow): readable for the colour-blind, growing in brightness.
const PALETTE: [Colour; 6] =
    [[48, 18, 92], [59, 68, 139], [38, 113, 142], [32, 157, 130], [109, 198, 85], [243, 226, 74]];

/// The background, and the bounds it covers.
pub(super) struct Map {
    pixels: Vec<Colour>,
    bounds: [(f64, f64); 2],
    /// The terminal shows all colours, not only 256.
    all_colours: bool,
}

impl Map {
    /// Colours by rank, so that every function shows its shape whatever its range.
    pub(super) fn new(function: &Function) -> Map {
        let given = function.bounds(2);
        let bounds = [given[0], given[1]];
        let values: Vec<f64> = (0..WIDTH * HEIGHT).map(|index| function.value(&centre(index, bounds))).collect();
        let mut sorted = values.clone();
        sorted.sort_by(f64::total_cmp);
        let rank = |value: f64| sorted.partition_point(|other| *other < value) as f64 / sorted.len() as f64;
        let all_colours = std::env::var("COLORTERM").is_ok_and(|term| term == "truecolor" || term == "24bit");
        Map { pixels: values.iter().map(|value| shade(rank(*value))).collect(), bounds, all_colours }
    }

    /// The map with points and the trust region, a line of text per row.
    pub(super) fn draw(
        &self,
        points: &[&[f64]],
        newest: &[f64],
        best: Option<&[f64]>,
        region: Option<&[[f64; 2]; 4]>,
    ) -> Vec<String> {
        let mut pixels = self.pixels.clone();
        let mut set = |x: &[f64], colour: Colour| {
            if let Some(index) = self.index(x) {
                pixels[index] = colour;
            }
        };
        points.iter().for_each(|x| set(x, POINT));
        if let Some(corners) = region {
            for (from, to) in corners.iter().zip(corners.iter().cycle().skip(1)) {
                line(*from, *to).for_each(|x| set(&x, REGION));
            }
        }
        set(newest, NEWEST);
        best.into_iter().for_each(|x| set(x, BEST));
        (0..ROWS).map(|row| self.text(&pixels[2 * row * WIDTH..(2 * row + 2) * WIDTH])).collect()
    }

    /// The pixel of a point; `None` outside.
    fn index(&self, x: &[f64]) -> Option<usize> {
        let share = |i: usize| (x[i] - self.bounds[i].0) / (self.bounds[i].1 - self.bounds[i].0);
        let (across, up) = (share(0), share(1));
        let inside = (0.0..=1.0).contains(&across) && (0.0..=1.0).contains(&up);
        let column = ((across * WIDTH as f64) as usize).min(WIDTH - 1);
        let row = (((1.0 - up) * HEIGHT as f64) as usize).min(HEIGHT - 1);
        inside.then_some(row * WIDTH + column)
    }

    /// Two rows of pixels as one line of text.
    fn text(&self, pixels: &[Colour]) -> String {
        let (upper, lower) = pixels.split_at(WIDTH);
        let mut line = String::new();
        let mut before = (None, None);
        for (above, below) in upper.iter().zip(lower) {
            if before.0.replace(above) != Some(above) {
                line += &format!("\x1b[38;{}m", self.code(*above));
            }
            if before.1.replace(below) != Some(below) {
                line += &format!("\x1b[48;{}m", self.code(*below));
            }
            line.push('▀');
        }
        line + "\x1b[0m"
    }

    /// A small square of a colour, for the legend.
    pub(super) fn swatch(&self, colour: Colour) -> String {
        format!("\x1b[38;{}m■\x1b[0m", self.code(colour))
    }

    /// The terminal's code of a colour; the nearest of a cube of 216 if it does not know all.
    fn code(&self, colour: Colour) -> String {
        let [red, green, blue] = colour;
        if self.all_colours {
            return format!("2;{red};{green};{blue}");
        }
        let [red, green, blue] = colour.map(|share| (u16::from(share) * 5 + 127) / 255);
        format!("5;{}", 16 + 36 * red + 6 * green + blue)
    }
}

/// The middle of a pixel, in user units.
fn centre(index: usize, bounds: [(f64, f64); 2]) -> [f64; 2] {
    let across = ((index % WIDTH) as f64 + 0.5) / WIDTH as f64;
    let up = 1.0 - ((index / WIDTH) as f64 + 0.5) / HEIGHT as f64;
    let at = |share: f64, (low, high): (f64, f64)| low + share * (high - low);
    [at(across, bounds[0]), at(up, bounds[1])]
}

/// Points along a line, close enough to leave no gap on the map.
fn line(from: [f64; 2], to: [f64; 2]) -> impl Iterator<Item = [f64; 2]> {
    const PIECES: usize = 2 * (WIDTH + HEIGHT);
    (0..=PIECES).map(move |i| {
        let t = i as f64 / PIECES as f64;
        [from[0] + t * (to[0] - from[0]), from[1] + t * (to[1] - from[1])]
    })
}

/// The colour of a share between 0 and 1, in bands so that contours show.
fn shade(share: f64) -> Colour {
    const BANDS: f64 = 24.0;
    let place = (share * BANDS).floor() / BANDS * (PALETTE.len() - 1) as f64;
    let below = (place as usize).min(PALETTE.len() - 2);
    let t = place - below as f64;
    std::array::from_fn(|i| {
        let (low, high) = (f64::from(PALETTE[below][i]), f64::from(PALETTE[below + 1][i]));
        (low + t * (high - low)).round() as u8
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_as_wide_as_the_map_and_points_stand_where_they_belong() {
        let function = Function::by_name("booth").unwrap();
        let map = Map::new(function);
        let rows = map.draw(&[&[1.0, 3.0]], &[-10.0, 10.0], None, None);
        assert_eq!(rows.len(), ROWS);
        assert!(rows.iter().all(|row| row.matches('▀').count() == WIDTH));
        assert!(
            rows[0].starts_with(&format!("\x1b[38;{}m", map.code(NEWEST))),
            "the upper left corner is the newest point"
        );
        assert_eq!(map.index(&[10.0, -10.0]), Some(WIDTH * HEIGHT - 1));
        assert_eq!(map.index(&[10.1, 0.0]), None);
    }
}

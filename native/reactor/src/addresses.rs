use std::collections::HashMap;
use std::net::IpAddr;

/// Counts connections by the client's address against `connections-per-address`.
#[derive(Debug, Default)]
pub struct Addresses {
    limit: Option<u32>,
    open: HashMap<IpAddr, u32>,
    /// Connections that were one too many.
    refused: u64,
}

impl Addresses {
    /// # Arguments
    /// * `limit` - of each address; without one nothing is counted.
    #[must_use]
    pub fn new(limit: Option<u32>) -> Self {
        Self { limit, ..Self::default() }
    }

    /// Whether an address may have one more connection, which is counted then.
    pub fn open(&mut self, address: IpAddr) -> bool {
        let Some(limit) = self.limit else { return true };
        let open = self.open.entry(address).or_default();
        let may = *open < limit;
        if may {
            *open += 1;
        } else {
            self.refused += 1;
        }
        may
    }

    /// A connection that was counted is over.
    pub fn close(&mut self, address: IpAddr) {
        if let Some(open) = self.open.get_mut(&address) {
            *open -= 1;
            if *open == 0 {
                self.open.remove(&address);
            }
        }
    }

    /// What was refused, in words.
    #[must_use]
    pub fn refusals(&self) -> Option<String> {
        let limit = self.limit.filter(|_| self.refused > 0)?;
        Some(format!("connections-per-address={limit}: {} more were refused", self.refused))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_address_has_its_own() {
        let addresses = ["10.0.0.1", "10.0.0.2"].map(|text| text.parse().unwrap());
        let mut all = Addresses::new(Some(2));
        let open = [0, 0, 0, 1, 0].map(|index: usize| all.open(addresses[index]));
        assert_eq!(open, [true, true, false, true, false]);
        let said = "connections-per-address=2: 2 more were refused";
        assert_eq!(all.refusals().as_deref(), Some(said));
        all.close(addresses[0]);
        assert!(all.open(addresses[0]) && !all.open(addresses[0]));
        let mut off = Addresses::new(None);
        assert!((0..1000).all(|_| off.open(addresses[0])) && off.refusals().is_none());
    }
}

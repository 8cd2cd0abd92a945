import Actions
import Testing

@testable import CommandLineTool

/// The lines of `actions plan` about prices.
@Suite struct PriceChangeTextTests {
    private func change(_ old: Int64?, _ new: Int64, rows: Int64 = 2) -> PriceChange {
        PriceChange(sku: "gold", currency: "USD", oldPrice: old, newPrice: new, rows: rows)
    }

    @Test func `each price is shown from what to what, and more than a half is warned of`() {
        let lines = PriceChangeText([
            change(9_990, 12_990), change(12_990, 9_990, rows: 1), change(9_990, 9_990), change(nil, 9_990),
        ]).lines
        #expect(
            lines == [
                "  price of gold: 9.99 to 12.99 USD in 2 rows, 30 % up",
                "  price of gold: 12.99 to 9.99 USD in 1 row, 23 % down",
                "  price of gold: 9.99 to 9.99 USD in 2 rows, the same",
                "  price of gold: not known to 9.99 USD in 2 rows",
            ]
        )
        let warning = "a price changes by more than 50 %; prices are in thousandths of a unit of the currency"
        #expect(
            PriceChangeText([change(9_990, 13), change(10_000, 15_000), change(10_000, 15_010, rows: 3)]).lines == [
                "  price of gold: 9.99 to 0.013 USD in 2 rows, 100 % down",
                "  price of gold: 10.00 to 15.00 USD in 2 rows, 50 % up",
                "  price of gold: 10.00 to 15.01 USD in 3 rows, 50 % up",
                "  warning: in 5 rows \(warning)",
            ]
        )
        #expect(PriceChangeText([]).lines.isEmpty)
        let many = PriceChangeText((1...12).map { change(10_000, 10_000 + $0 * 10) }).lines
        #expect(many.count == 11 && many.last == "  and 2 other prices in 4 rows")
    }
}

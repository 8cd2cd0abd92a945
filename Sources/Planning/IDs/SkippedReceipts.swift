import Basics
package import SignedData

/// The rows of a list that are left out, because their receipt gives no transaction ID.
package struct SkippedReceipts: Equatable, Sendable {
    private struct Rows: Equatable {
        var count = 0
        /// The first ones; from 1.
        var lines: [Int] = []
    }

    /// The most lines that are listed for a reason.
    private static let listedLines = 10

    private var rows: [ReceiptDefect: Rows] = [:]

    package init() {}

    package mutating func note(_ defect: ReceiptDefect, line: Int) {
        rows[defect, default: Rows()].count += 1
        if rows[defect, default: Rows()].lines.count < Self.listedLines { rows[defect]?.lines.append(line) }
    }

    /// The number of rows whose customer is lost with the receipt.
    package var unreadable: Int { rows.filter(\.key.losesCustomer).values.reduce(0) { $0 + $1.count } }

    /// A sentence for each reason, with the first lines.
    package var sentences: [String] {
        ReceiptDefect.allCases.compactMap { defect in
            guard let rows = rows[defect] else { return nil }
            let lines = rows.lines.map(String.init).joined(separator: ", ")
            let more = rows.count > rows.lines.count ? " and others" : ""
            let loss = defect.losesCustomer ? "; a run ends with 2" : ""
            return "\(counted(rows.count, "row")) \(Self.words(defect)) \(rows.count == 1 ? "is" : "are") left out "
                + "(line\(rows.count == 1 ? "" : "s") \(lines)\(more))\(loss)"
        }
    }

    private static func words(_ defect: ReceiptDefect) -> String {
        switch defect {
        case .missing: "without a receipt"
        case .withoutPurchases: "with a receipt without purchases"
        case .ofAnotherApp: "with a receipt of another app"
        case .fromXcode: "with a receipt from Xcode"
        case .withoutID: "with a receipt without a transaction ID"
        case .damaged: "with a damaged receipt"
        }
    }
}

/// A position in the order of an endpoint: the next page begins after the record with this date and number.
struct CursorPosition: Equatable, Sendable {
    /// Milliseconds since 1970.
    var date: Int64
    /// A transaction ID, or a notification's index in the world.
    var number: UInt64

    /// Before every record.
    static let first = CursorPosition(date: 0, number: 0)
    /// After every record.
    static let last = CursorPosition(date: .max, number: .max)
}

extension CursorPosition: Comparable {
    static func < (left: Self, right: Self) -> Bool {
        (left.date, left.number) < (right.date, right.number)
    }
}

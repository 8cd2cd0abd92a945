/// How far a world moves on at once; kept in `world.json`, so that a restarted simulator moves on likewise.
enum WorldStep: Sendable, Equatable {
    /// So many changes, a millisecond apart: the first one at `from`, or right behind the world's last change if that is later.
    ///
    /// Milliseconds since 1970.
    case changes(Int, from: Int64)
    /// So many days with the changes they bring.
    case days(Int)

    static let limit = 10_000

    /// Changes that are over a minute before `now`, in milliseconds since 1970, where the world's last change lets them.
    ///
    /// By then Apple has tried to deliver their notifications, and a client's window that ends now has all of them.
    static func recentChanges(_ count: Int, at now: Int64) -> WorldStep {
        .changes(count, from: now - Moment.minute - Int64(count))
    }
}

extension World {
    mutating func make(_ step: WorldStep) -> [WorldChange] {
        switch step {
        case .changes(let count, let date): change(count: count, from: date)
        case .days(let days): change(days: days)
        }
    }
}

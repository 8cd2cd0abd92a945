/// How far a world moves on at once; kept in `world.json`, so that a restarted simulator moves on likewise.
enum WorldStep: Sendable, Equatable {
    /// So many changes, a millisecond apart.
    case changes(Int)
    /// So many days with the changes they bring.
    case days(Int)

    static let limit = 10_000
}

extension World {
    mutating func make(_ step: WorldStep) -> [WorldChange] {
        switch step {
        case .changes(let count): change(count: count)
        case .days(let days): change(days: days)
        }
    }
}

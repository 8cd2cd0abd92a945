/// One step by which a world changes.
///
/// The directory keeps all steps, so that a restarted simulator has the same world.
enum WorldStep: Sendable, Equatable {
    /// This many changes, a millisecond apart. The first one is at `from` (milliseconds since 1970), or right after the world's
    /// last change if that is later.
    case changes(Int, from: Int64)
    /// The changes of this many days.
    case days(Int)
    /// A request of the app's server.
    case action(ActionRequest)

    /// The most changes or days that one request can ask for.
    static let limit = 10_000

    /// Changes that end a minute before `now` (milliseconds since 1970), or later when the world's last change is later.
    ///
    /// By `now` Apple has tried to deliver their notifications, and a client's window that ends now contains all of them.
    static func recentChanges(_ count: Int, at now: Int64) -> WorldStep {
        .changes(count, from: now - Moment.minute - Int64(count))
    }
}

extension World {
    mutating func make(_ step: WorldStep) -> [WorldChange] {
        switch step {
        case .changes(let count, let date): change(count: count, from: date)
        case .days(let days): change(days: days)
        case .action(let request):
            // A request that this version refuses changes nothing.
            (try? Route.actions[request.endpoint]?(request, &self))?.changes ?? []
        }
    }
}

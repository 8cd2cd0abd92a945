/// One step by which a world changes.
///
/// The directory keeps all steps, so that a restarted simulator has the same world.
enum WorldStep: Sendable, Equatable {
    /// This many changes, a millisecond apart. The first one is at `from` (milliseconds since 1970), or right after the world's
    /// last change if that is later.
    case changes(Int, from: Int64)
    /// The changes of this many days.
    case days(Int)
    /// This many customers ask for refunds; `from` as in ``changes(_:from:)``.
    case refundRequests(Int, from: Int64)
    /// Ends the period of this many subscriptions that the app's server has changed; `from` as in ``changes(_:from:)``.
    case renewals(Int, from: Int64)
    /// Periods end until this moment, in milliseconds since 1970.
    case until(Int64)
    /// This many customers come; `from` as in ``changes(_:from:)``.
    case customers(Int, from: Int64)
    /// This many tokens of external purchases are created; `from` as in ``changes(_:from:)``.
    case purchaseTokens(Int, from: Int64)
    /// Apple takes this many seats back; `from` as in ``changes(_:from:)``.
    case unclaims(Int, from: Int64)
    /// A request of the app's server.
    case action(ActionRequest)

    /// The most changes or days that one request can ask for.
    static let limit = 10_000

    /// The date of the first of `count` changes that end a minute before `now`, both in milliseconds since 1970.
    ///
    /// By `now` Apple has tried to deliver their notifications, and a client's window that ends now contains all of them.
    static func recentDate(of count: Int, at now: Int64) -> Int64 { now - Moment.minute - Int64(count) }
}

extension World {
    /// Makes a step and returns its changes.
    ///
    /// Apple's work goes on with every step that is not a request: it decides refunds, tells customers of price increases and extends
    /// subscriptions.
    mutating func make(_ step: WorldStep) -> [WorldChange] {
        switch step {
        case .changes(let count, let date): continueWork(from: date) + change(count: count, from: date)
        case .days(let days): continueWork(from: .min) + change(days: days)
        case .refundRequests(let count, let date): continueWork(from: date) + requestRefunds(count: count, from: date)
        case .renewals(let count, let date): continueWork(from: date) + renewChanged(count: count, from: date)
        case .until(let moment): continueWork(from: moment) + passTime(until: moment)
        case .customers(let count, let date): continueWork(from: date) + addCustomers(count: count, from: date)
        case .purchaseTokens(let count, let date):
            continueWork(from: date) + createPurchaseTokens(count: count, from: date)
        case .unclaims(let count, let date): continueWork(from: date) + unclaimSeats(count: count, from: date)
        case .action(let request):
            // A request that this version refuses changes nothing.
            (try? Route.actions[request.endpoint]?(request, &self))?.changes ?? []
        }
    }

    private mutating func continueWork(from date: Int64) -> [WorldChange] {
        let running = massExtensions.filter { $0.completeDate == nil }.map(\.requestIdentifier)
        let decisions = decideRefunds(from: date) + decideCommerceRefunds(from: date) + answerPriceIncreases(from: date)
        return decisions + running.flatMap { continueMassExtension($0, at: date) }
    }
}

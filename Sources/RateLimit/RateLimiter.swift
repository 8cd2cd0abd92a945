package import AppStoreModel
package import Basics

/// Makes the workers of one stream in this process wait until the limit allows a request.
///
/// Workers are served in order of arrival. One call to the ledger at a time asks for all of them. Every attempt takes a
/// permit, including retries.
package actor RateLimiter {
    package nonisolated let stream: StreamName
    private let terms: LimiterTerms
    private let ledger: any RateLedger
    private let time: Timekeeper
    private let stalled: @Sendable (RateGrant) -> Void

    /// Workers that wait, in the order they came.
    private(set) var waiters: [Waiter] = []
    private var nextTicket = 0
    private var held: [HeldUnits] = []
    /// The task that takes units from the ledger and hands them to the waiting workers.
    ///
    /// It exists only while a worker waits.
    private var dispatcher: Task<Void, Never>?

    /// The ledger is not asked before this moment.
    private var pause: Duration?
    private var closings = ClosingStreak()
    private var stopwatch = Stopwatch()
    private var clockWatch = ClockWatch()

    /// - Parameters:
    ///   - stream: Whose limit.
    ///   - terms: How many units this process takes at once, and how long it may use them.
    ///   - ledger: Shared by all processes of the app.
    ///   - stalled: Called with the ledger's answer when it grants nothing, except when the wait only spreads requests
    ///     evenly.
    package init(
        stream: StreamName,
        terms: LimiterTerms,
        ledger: any RateLedger,
        time: Timekeeper,
        stalled: @escaping @Sendable (RateGrant) -> Void = { _ in }
    ) {
        self.stream = stream
        self.terms = terms
        self.ledger = ledger
        self.time = time
        self.stalled = stalled
    }

    /// Returns when one request may be sent.
    ///
    /// - Throws: Errors of the ledger, ``ClockDisagreement`` when the ledger's clock was set, or
    ///   `CancellationError`.
    package func permit() async throws -> Permit {
        try Task.checkCancellation()
        if waiters.isEmpty, let permit = takeUnit() { return permit }

        let ticket = nextTicket
        nextTicket += 1
        do {
            let permit = try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { join(Waiter(ticket: ticket, turn: $0)) }
            } onCancel: {
                // Nothing has to await this task: `permit` returns only when the task or the dispatcher has resumed it.
                Task { await self.cancelWaiting(ticket) }
            }
            guard !Task.isCancelled else {
                giveBack(permit)
                throw CancellationError()
            }
            return permit
        } catch {
            // The last worker also waits for the dispatcher to end, so that no task outlives its callers. When no
            // worker waits, the dispatcher has ended or is cancelled, so this does not wait for another's permit.
            if waiters.isEmpty { await dispatcher?.value }
            throw error
        }
    }

    /// Stops sending for `wait`: in this process at once, and in all others through the ledger.
    ///
    /// The wait is at least one second. An earlier closing is never shortened.
    ///
    /// - Throws: Errors of the ledger. This process stops sending even then.
    package func close(for wait: Duration) async throws {
        let now = time.monotonic()
        let wait = max(.seconds(1), wait)
        closings.close(until: now + wait, at: now)
        held = []
        crashPoint(.closingSeen)
        try await ledger.close(stream, for: wait)
        crashPoint(.closingCommitted)
    }

    /// Stops sending until the moment that a 429 names.
    ///
    /// If it names none, the wait doubles with each 429 in a row.
    ///
    /// - Parameters:
    ///   - rawValues: Every `Retry-After` header of the answer.
    ///   - date: The `Date` header of the answer. `Retry-After` is read on this clock, not on this machine's.
    /// - Returns: How the headers were read.
    /// - Throws: Errors of the ledger. This process stops sending even then.
    @discardableResult
    package func close(retryAfter rawValues: [String], date: String? = nil) async throws -> RetryAfter {
        let consecutive = closings.consecutive(at: time.monotonic())
        let now = HTTPDate.ofServer(date) ?? UnixMilliseconds(rawValue: time.wallClock())
        let answer = RetryAfter(rawValues, now: now, consecutive: consecutive)
        try await close(for: answer.wait)
        return answer
    }

    /// The total time in which at least one worker was waiting.
    package var waited: Duration { stopwatch.total(at: time.monotonic()) }

    /// Whether the ledger's clock agrees with the clock of the server that answered.
    ///
    /// A ledger clock that is ahead frees budget that is still spent, and marks future time as covered. One that is
    /// behind makes new records look forged.
    ///
    /// - Parameters:
    ///   - date: The `Date` header of the answer. A missing or implausible date is ignored.
    ///   - sent: When the request was sent, on `Timekeeper.monotonic`.
    /// - Returns: `false` if the request should be sent again.
    /// - Throws: ``ClockDisagreement`` at the third disagreement in a row.
    package func agrees(with date: String?, sent: Duration) throws(ClockDisagreement) -> Bool {
        try clockWatch.agrees(with: date, sent: sent, received: time.monotonic())
    }
}

extension RateLimiter {
    struct Waiter {
        fileprivate let ticket: Int
        fileprivate let turn: CheckedContinuation<Permit, any Error>
    }

    private func join(_ waiter: Waiter) {
        waiters.append(waiter)
        waitersChanged()
        if dispatcher == nil { startDispatcher() }
    }

    private func cancelWaiting(_ ticket: Int) {
        guard let place = waiters.firstIndex(where: { $0.ticket == ticket }) else { return }
        let waiter = waiters.remove(at: place)
        waitersChanged()
        if waiters.isEmpty { dispatcher?.cancel() }
        waiter.turn.resume(throwing: CancellationError())
    }

    /// Starts the dispatcher, which ends when no worker waits.
    private func startDispatcher() {
        dispatcher = Task { await serve() }
    }

    private func serve() async {
        while !waiters.isEmpty, !Task.isCancelled {
            handOut()
            if waiters.isEmpty { break }
            let now = time.monotonic()
            if let end = [pause, closings.end(at: now)].compactMap(\.self).max(), end > now {
                // Only cancellation ends a sleep early, and the loop checks for it.
                try? await time.sleep(end - now)
            } else {
                await ask()
            }
        }
        dispatcher = nil
        // A worker arrived after the last one had cancelled this dispatcher.
        if !waiters.isEmpty { startDispatcher() }
    }

    private func ask() async {
        let closingsBefore = closings.count
        let firstLaterTicket = nextTicket
        // Read before asking: see `HeldUnits`.
        let asked = time.monotonic()
        do {
            let count = min(max(waiters.count, terms.leastBlock), terms.blockLimit)
            let answer = try await ledger.take(stream, atMost: count)
            let now = time.monotonic()
            if let clock = answer.clock { try clockWatch.ledgerRead(clock, asked: asked, answered: now) }
            if answer.granted == 0 {
                // A wait of zero must not become a busy loop.
                pause = now + max(answer.wait, .milliseconds(1))
                if answer.refusal != .pace { stalled(answer) }
            } else if closings.count == closingsBefore {
                held.append(HeldUnits(count: answer.granted, asked: asked, life: terms.grantLife))
                pause = nil
            }
        } catch {
            // A cancelled dispatcher has no waiting workers.
            guard !Task.isCancelled else { return }
            let failed = waiters.prefix { $0.ticket < firstLaterTicket }
            waiters.removeFirst(failed.count)
            waitersChanged()
            for waiter in failed { waiter.turn.resume(throwing: error) }
        }
    }

    private func handOut() {
        while let first = waiters.first, let permit = takeUnit() {
            waiters.removeFirst()
            first.turn.resume(returning: permit)
        }
        waitersChanged()
    }

    private func takeUnit() -> Permit? {
        let now = time.monotonic()
        held.removeAll { $0.isEmpty(at: now) }
        guard !held.isEmpty, held[0].take(at: now) else { return nil }
        let expires = held[0].expires
        return Permit(expires: expires, departsBy: expires + terms.departureDelay, closingsBefore: closings.count)
    }

    /// Gives the unit of a cancelled worker to the next one.
    private func giveBack(_ permit: Permit) {
        guard permit.closingsBefore == closings.count else { return }
        held.insert(HeldUnits(returning: permit), at: 0)
        handOut()
        if waiters.isEmpty { dispatcher?.cancel() }
    }

    private func waitersChanged() {
        stopwatch.run(!waiters.isEmpty, at: time.monotonic())
    }
}

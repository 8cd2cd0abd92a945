package import AppStoreModel
package import Workers

/// Makes every worker of one stream in this process wait for its turn.
///
/// Workers are served in the order they came. However many wait, one call to the ledger at a time asks for all of them.
/// Every attempt takes a permit, retries too.
package actor RateLimiter {
    package nonisolated let stream: StreamName
    private let terms: LimiterTerms
    private let ledger: any RateLedger
    private let time: Timekeeper
    private let stalled: @Sendable (Duration) -> Void

    /// Workers that wait, in the order they came.
    private(set) var line: [Waiter] = []
    private var nextTicket = 0
    private var held: [HeldUnits] = []
    /// Asks the ledger on behalf of the line; exists only while somebody waits.
    private var clerk: Task<Void, Never>?

    /// Until when the ledger need not be asked.
    private var pause: Duration?
    private var closings = ClosingStreak()
    private var stopwatch = Stopwatch()
    private var clockWatch = ClockWatch()

    /// - Parameters:
    ///   - stream: Whose limit.
    ///   - terms: What the process may take of it.
    ///   - ledger: Where every process takes it from.
    ///   - time: The process's clocks.
    ///   - stalled: Told how long nobody may send, whenever the ledger says so and it is not only for the pace.
    package init(
        stream: StreamName,
        terms: LimiterTerms,
        ledger: any RateLedger,
        time: Timekeeper,
        stalled: @escaping @Sendable (Duration) -> Void = { _ in }
    ) {
        self.stream = stream
        self.terms = terms
        self.ledger = ledger
        self.time = time
        self.stalled = stalled
    }

    /// Returns when one request may be sent.
    ///
    /// - Throws: What the ledger threw when asked for this permit, ``StopReason/clocks(_:)`` when its clock was set, or
    ///   `CancellationError`.
    package func permit() async throws -> Permit {
        try Task.checkCancellation()
        if line.isEmpty, let permit = takeUnit() { return permit }

        let ticket = nextTicket
        nextTicket += 1
        do {
            let permit = try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { join(Waiter(ticket: ticket, turn: $0)) }
            } onCancel: {
                // Awaited by `permit` itself, which cannot return before its continuation is resumed.
                Task { await self.leave(ticket) }
            }
            guard !Task.isCancelled else {
                giveBack(permit)
                throw CancellationError()
            }
            return permit
        } catch {
            // The last to leave waits until the clerk has left too: nothing outlives its callers. With an empty line
            // the clerk is always cancelled or gone, so this cannot wait for somebody else's turn.
            if line.isEmpty { await clerk?.value }
            throw error
        }
    }

    /// Stops sending for a while: here at once, and everywhere through the ledger.
    ///
    /// At least one second, and never shorter than an earlier closing asked for.
    ///
    /// - Throws: What the ledger threw; this process is closed all the same.
    package func close(for wait: Duration) async throws {
        let now = time.monotonic()
        let wait = max(.seconds(1), wait)
        closings.close(until: now + wait, at: now)
        held = []
        crashPoint(.closingSeen)
        try await ledger.close(stream, for: wait)
        crashPoint(.closingCommitted)
    }

    /// Stops sending until the moment a 429 names, or for a while that doubles with every repeat where it names none.
    ///
    /// - Parameters:
    ///   - rawValues: Every `Retry-After` header of the answer.
    ///   - date: Its `Date` header: the clock Apple's moment belongs to, whatever this machine's says.
    /// - Returns: What the headers were taken to say.
    /// - Throws: What the ledger threw; this process is closed all the same.
    @discardableResult
    package func close(retryAfter rawValues: [String], date: String? = nil) async throws -> RetryAfter {
        let consecutive = closings.consecutive(at: time.monotonic())
        let now = HTTPDate.ofServer(date) ?? UnixMilliseconds(rawValue: time.wallClock())
        let answer = RetryAfter(rawValues, now: now, consecutive: consecutive)
        try await close(for: answer.wait)
        return answer
    }

    /// How long at least one worker was waiting, all in all.
    package var waited: Duration { stopwatch.total(at: time.monotonic()) }

    /// Whether the ledger's clock agrees with that of the server that answered.
    ///
    /// A ledger that is ahead frees budget that is still spent, and marks time as covered that has not come yet; one that
    /// is behind takes new records for forged.
    ///
    /// - Parameters:
    ///   - date: The `Date` header of the answer; what cannot be believed is no evidence.
    ///   - sent: When the request was sent, on `Timekeeper.monotonic`.
    /// - Returns: `false` for an answer that had better be asked for again.
    /// - Throws: ``StopReason/clocks(_:)`` for the third in a row.
    package func agrees(with date: String?, sent: Duration) throws(StopReason) -> Bool {
        try clockWatch.agrees(with: date, sent: sent, received: time.monotonic())
    }
}

extension RateLimiter {
    struct Waiter {
        fileprivate let ticket: Int
        fileprivate let turn: CheckedContinuation<Permit, any Error>
    }

    private func join(_ waiter: Waiter) {
        line.append(waiter)
        lineChanged()
        if clerk == nil { hireClerk() }
    }

    private func leave(_ ticket: Int) {
        guard let place = line.firstIndex(where: { $0.ticket == ticket }) else { return }
        let waiter = line.remove(at: place)
        lineChanged()
        if line.isEmpty { clerk?.cancel() }
        waiter.turn.resume(throwing: CancellationError())
    }

    /// Whoever waits in line awaits the clerk's work; it ends with the line.
    private func hireClerk() {
        clerk = Task { await serve() }
    }

    private func serve() async {
        while !line.isEmpty, !Task.isCancelled {
            handOut()
            if line.isEmpty { break }
            let now = time.monotonic()
            if let end = [pause, closings.end(at: now)].compactMap(\.self).max(), end > now {
                // Only cancellation ends a sleep early, and the loop looks at that itself.
                try? await time.sleep(end - now)
            } else {
                await ask()
            }
        }
        clerk = nil
        // Somebody came after the last one had cancelled this clerk.
        if !line.isEmpty { hireClerk() }
    }

    private func ask() async {
        let closingsBefore = closings.count
        let dependents = nextTicket
        // Before asking: see `HeldUnits`.
        let asked = time.monotonic()
        do {
            let answer = try await ledger.take(stream, atMost: min(max(line.count, terms.leastBlock), terms.blockLimit))
            let now = time.monotonic()
            if let clock = answer.clock { try clockWatch.ledgerRead(clock, asked: asked, answered: now) }
            if answer.granted == 0 {
                // A ledger that forgets to name a time must not become a busy loop.
                pause = now + max(answer.wait, .milliseconds(1))
                if !answer.isPaced { stalled(answer.wait) }
            } else if closings.count == closingsBefore {
                held.append(HeldUnits(count: answer.granted, asked: asked, life: terms.grantLife))
                pause = nil
            }
        } catch {
            // A cancelled clerk has nobody left who asked.
            guard !Task.isCancelled else { return }
            let failed = line.prefix { $0.ticket < dependents }
            line.removeFirst(failed.count)
            lineChanged()
            for waiter in failed { waiter.turn.resume(throwing: error) }
        }
    }

    private func handOut() {
        while let first = line.first, let permit = takeUnit() {
            line.removeFirst()
            first.turn.resume(returning: permit)
        }
        lineChanged()
    }

    private func takeUnit() -> Permit? {
        let now = time.monotonic()
        held.removeAll { $0.isEmpty(at: now) }
        guard !held.isEmpty, held[0].take(at: now) else { return nil }
        let expires = held[0].expires
        return Permit(expires: expires, departsBy: expires + terms.departureDelay, closing: closings.count)
    }

    /// A worker was cancelled at the moment its turn came: the next in line gets the unit.
    private func giveBack(_ permit: Permit) {
        guard permit.closing == closings.count else { return }
        held.insert(HeldUnits(returning: permit), at: 0)
        handOut()
        if line.isEmpty { clerk?.cancel() }
    }

    private func lineChanged() {
        stopwatch.run(!line.isEmpty, at: time.monotonic())
    }
}

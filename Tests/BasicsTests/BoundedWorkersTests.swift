import Basics
import Synchronization
import Testing

struct BoundedWorkersTests {
    @Test(arguments: [1, 2, 7, 200])
    func `every element is worked on once, never more than the width at a time`(width: Int) async throws {
        let seen = Mutex<[Int]>([])
        let busy = Mutex((now: 0, most: 0))
        let elements = Mutex((0..<100).makeIterator())
        try await withBoundedWorkers(width: width) {
            elements.withLock { $0.next() }
        } _: { element in
            busy.withLock {
                $0.now += 1
                $0.most = max($0.most, $0.now)
            }
            await Task.yield()
            seen.withLock { $0.append(element) }
            busy.withLock { $0.now -= 1 }
        }
        #expect(seen.withLock { $0.sorted() } == Array(0..<100))
        #expect((1...min(width, 100)).contains(busy.withLock(\.most)))
    }

    @Test func `an element is read only when a slot is free`() async throws {
        let finished = Mutex(0)
        let asked = Mutex(0)
        try await withBoundedWorkers(width: 3) { () -> Int? in
            asked.withLock { asked in
                // Elements that were read are finished or in one of the slots, except the slot that is about to be
                // filled.
                #expect(asked - finished.withLock(\.self) <= 2)
                guard asked < 50 else { return nil }
                asked += 1
                return asked
            }
        } _: { _ in
            await Task.yield()
            finished.withLock { $0 += 1 }
        }
        #expect(finished.withLock(\.self) == 50)
    }

    @Test func `no elements, no work`() async throws {
        try await withBoundedWorkers(width: 4) {
            Int?.none
        } _: { _ in
            Issue.record("there is nothing to work on")
        }
    }

    @Test(arguments: [2, 3, 50])
    func `the first error cancels the others and waits for them`(elements: Int) async {
        struct Broken: Error {}
        let cancelled = Mutex(0)
        let next = Mutex(0)
        await #expect(throws: Broken.self) {
            try await withBoundedWorkers(width: 3) { () -> Int? in
                next.withLock { next in
                    guard next < elements else { return nil }
                    next += 1
                    return next
                }
            } _: { element in
                guard element < min(elements, 3) else { throw Broken() }
                do {
                    // Only cancellation ends it.
                    try await Task.sleep(for: .seconds(3_600))
                } catch {
                    cancelled.withLock { $0 += 1 }
                    throw error
                }
            }
        }
        #expect(next.withLock(\.self) == min(elements, 3))
        #expect(cancelled.withLock(\.self) == min(elements, 3) - 1)
    }

    @Test func `an error of the source ends the work too`() async {
        struct Dry: Error {}
        let ended = Mutex(0)
        let next = Mutex(0)
        await #expect(throws: Dry.self) {
            try await withBoundedWorkers(width: 5) { () -> Int? in
                try next.withLock { next in
                    guard next < 2 else { throw Dry() }
                    next += 1
                    return next
                }
            } _: { _ in
                defer { ended.withLock { $0 += 1 } }
                try await Task.sleep(for: .seconds(3_600))
            }
        }
        #expect(ended.withLock(\.self) == 2)
    }

    @Test func `an error is heard while the next element is a long time coming`() async {
        struct Broken: Error {}
        let first = Mutex(true)
        await #expect(throws: Broken.self) {
            try await withBoundedWorkers(width: 2) { () -> Int? in
                if first.withLock({ exchange(&$0, with: false) }) { return 1 }
                // Only cancellation ends it.
                try await Task.sleep(for: .seconds(3_600))
                return nil
            } _: { _ in
                throw Broken()
            }
        }
    }

    @Test func `a cancelled group takes no further element`() async {
        let (started, isStarted) = AsyncStream.makeStream(of: Void.self)
        let asked = Mutex(0)
        let group = Task {
            try await withBoundedWorkers(width: 2) { () -> Int? in
                asked.withLock {
                    $0 += 1
                    return $0
                }
            } _: { element in
                if element == 2 { isStarted.yield() }
                // Work that does not mind being cancelled.
                try? await Task.sleep(for: .seconds(3_600))
            }
        }
        for await _ in started { break }
        group.cancel()
        await #expect(throws: CancellationError.self) { try await group.value }
        #expect(asked.withLock(\.self) == 2)
    }
}

import Basics
import Synchronization
import Testing

struct OrderedWorkersTests {
    @Test(arguments: [1, 2, 7, 200])
    func `results arrive in the order of the elements, and few elements are in memory`(width: Int) async throws {
        var elements = (0..<300).makeIterator()
        var begun = 0
        var taken: [Int] = []
        try await withOrderedWorkers(width: width) {
            begun += 1
            #expect(begun - taken.count <= 2 * width)
            return elements.next()
        } work: { element in
            // Later elements are finished first.
            for _ in 0..<(300 - element) % 50 { await Task.yield() }
            return element * 2
        } take: { result in
            taken.append(result)
        }
        #expect(taken == (0..<300).map { $0 * 2 })
    }

    @Test(arguments: ["next", "work", "take"])
    func `the first error ends everything, and no work runs any more`(place: String) async throws {
        struct Broken: Error {}
        let busy = Mutex(0)
        var elements = (0..<100).makeIterator()
        await #expect(throws: Broken.self) {
            try await withOrderedWorkers(width: 3) {
                let element = elements.next()
                if place == "next", element == 20 { throw Broken() }
                return element
            } work: { element in
                busy.withLock { $0 += 1 }
                defer { busy.withLock { $0 -= 1 } }
                await Task.yield()
                if place == "work", element == 20 { throw Broken() }
                return element
            } take: { element in
                if place == "take", element == 20 { throw Broken() }
            }
        }
        #expect(busy.withLock(\.self) == 0)
    }

    @Test func `a cancelled task asks for no further element`() async throws {
        let (tenth, reached) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            var asked = 0
            do {
                try await withOrderedWorkers(width: 2) { () -> Int? in
                    asked += 1
                    if asked == 10 {
                        reached.finish()
                        while !Task.isCancelled { await Task.yield() }
                    }
                    return asked
                } work: {
                    $0
                } take: { _ in
                }
            } catch is CancellationError {
                return asked
            }
            return -1
        }
        for await _ in tenth {}
        task.cancel()
        #expect(try await task.value == 10)
    }
}

import Basics
import Dispatch
import Testing

struct BlockingThreadTests {
    private actor Room {
        private let thread = BlockingThread(label: "test.room")
        private let key = DispatchSpecificKey<Bool>()
        private var visits = 0

        nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe thread.asUnownedSerialExecutor() }

        func block(until gate: DispatchSemaphore) {
            gate.wait()
        }

        func visit() {
            visits += 1
        }

        var count: Int { visits }
    }

    @Test func `blocking calls park separate threads, never the tasks' few`() async {
        // More than any machine has cores: on the shared threads these would leave none for the task that frees them.
        let rooms = (0..<64).map { _ in Room() }
        let gate = DispatchSemaphore(value: 0)
        await withTaskGroup(of: Void.self) { group in
            for room in rooms { group.addTask { await room.block(until: gate) } }
            group.addTask {
                for _ in rooms {
                    await Task.yield()
                    gate.signal()
                }
            }
        }
    }

    @Test func `an actor on such a thread still does one thing at a time`() async {
        let room = Room()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<500 { group.addTask { await room.visit() } }
        }
        #expect(await room.count == 500)
    }
}

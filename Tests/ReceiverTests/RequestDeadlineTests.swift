import NIOCore
import NIOEmbedded
import Synchronization
import Testing

@testable import Receiver

/// The time limit of a request, on an event loop whose time the test moves.
struct RequestDeadlineTests {
    private final class Connection {
        let channel = EmbeddedChannel()
        private let cutOff = Box()

        final class Box: Sendable {
            let count = Atomic(0)
        }

        var cutOffs: Int { cutOff.count.load(ordering: .relaxed) }

        init() throws {
            let handler = RequestDeadline(limit: .seconds(5)) { [cutOff] in
                cutOff.count.add(1, ordering: .relaxed)
            }
            try channel.pipeline.syncOperations.addHandler(handler)
            try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        }

        func receive(_ text: String) throws { try channel.writeInbound(ByteBuffer(string: text)) }

        func answer(_ text: String) throws {
            channel.writeAndFlush(IOData.byteBuffer(ByteBuffer(string: text)), promise: nil)
            channel.embeddedEventLoop.run()
        }

        func say(_ event: RequestDeadline.Event) {
            channel.triggerUserOutboundEvent(event, promise: nil)
            channel.embeddedEventLoop.run()
        }

        func pass(seconds: Int64) { channel.embeddedEventLoop.advanceTime(by: .seconds(seconds)) }

        /// What the handlers behind the deadline have got.
        func passedOn() throws -> String {
            var text = ""
            while let bytes = try channel.readInbound(as: ByteBuffer.self) { text += String(buffer: bytes) }
            return text
        }
    }

    @Test func `a request that takes more than five seconds is cut off, however its bytes are spread`() throws {
        let connection = try Connection()
        connection.pass(seconds: 60)
        #expect(connection.channel.isActive)
        try connection.receive("POST /not")
        for _ in 0..<4 {
            connection.pass(seconds: 1)
            try connection.receive("x")
        }
        #expect(connection.channel.isActive)
        connection.pass(seconds: 1)
        #expect(!connection.channel.isActive)
        #expect(connection.cutOffs == 1)
        _ = try connection.passedOn()
    }

    @Test func `an answer may take longer, and the next request has five new seconds`() throws {
        let connection = try Connection()
        try connection.receive("first")
        connection.say(.requestRead)
        connection.pass(seconds: 60)
        #expect(connection.channel.isActive)
        try connection.answer("200")
        connection.pass(seconds: 60)
        #expect(connection.channel.isActive)
        try connection.receive("second")
        connection.pass(seconds: 4)
        #expect(connection.channel.isActive)
        connection.pass(seconds: 1)
        #expect(!connection.channel.isActive)
        #expect(connection.cutOffs == 1)
        #expect(try connection.passedOn() == "firstsecond")
    }

    @Test func `a request that begins before the last answer has its time from that answer on`() throws {
        let connection = try Connection()
        try connection.receive("first")
        connection.say(.requestRead)
        try connection.receive("seco")
        connection.pass(seconds: 60)
        #expect(connection.channel.isActive)
        try connection.answer("200")
        connection.pass(seconds: 5)
        #expect(!connection.channel.isActive)
        _ = try connection.passedOn()
    }

    @Test func `after an early answer the rest of the request is dropped, and the connection ends in time`() throws {
        let connection = try Connection()
        try connection.receive("head")
        connection.say(.answersEarly)
        try connection.answer("413")
        try connection.receive("endless")
        #expect(try connection.passedOn() == "head")
        connection.pass(seconds: 5)
        #expect(!connection.channel.isActive)
        // It was answered, so it does not count as cut off.
        #expect(connection.cutOffs == 0)
    }
}

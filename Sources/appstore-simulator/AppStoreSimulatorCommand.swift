import AppStoreSimulator
import ArgumentParser

@main
struct AppStoreSimulatorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "appstore-simulator",
        abstract: "A stand-in for Apple's App Store Server API on loopback.",
        discussion: """
            It makes a world of customers and purchases from a seed, signs it with its own certificate authority, and
            answers Get Transaction History, Get Refund History and Get Notification History as Apple documents them.

            Example:
              appstore-simulator serve --directory /tmp/store --port 8080
            """,
        version: "0.1.0",
        subcommands: [ServeCommand.self]
    )
}

import AppStoreModel
import FoundationEssentials
import SignedData

/// Builds the world and connects the parts of the simulator, before the port is opened.
struct SimulatorBootstrap: Sendable {
    let responder: RouteResponder
    let files: PublishedFiles
    /// `nil` when the simulator posts no notifications.
    let poster: NotificationPoster?

    init(
        _ configuration: SimulatorConfiguration,
        routes: [Route],
        now: @escaping @Sendable () -> UnixMilliseconds
    ) throws {
        let endpoints = routes.map(\.name)
        let directory = try StoreDirectory(configuration, now: now())
        let plan = try Self.faults(configuration.faultsFile, endpoints: endpoints)
        let worldFile = directory.worldFile
        let world = World(parameters: worldFile.parameters)
        let ids = world.customers.indices.map { world.ids.id(customer: $0, position: 0) }
        let available = routes.filter { world.app.environment == .production || $0.isInSandbox }
        let orders = available.contains { $0.name == Route.orderLookup.name } ? world.exampleOrders.map(\.id) : []

        let authority = try directory.authority(now: now())
        let app = world.app
        let deliveries = configuration.delivery.map { settings in
            DeliveryLog(
                journal: directory.deliveries,
                settings: settings,
                retries: app.environment == .production
            )
        }
        let served = try ServedWorld(
            world,
            steps: directory.steps,
            deliveries: deliveries
        ) { step throws(SimulatorError) in
            try directory.append(step)
        }

        let key = try directory.developerKey(of: app)
        let cursors = CursorCodec(seed: configuration.seed)
        let faults = FaultRules(plan, endpoints: endpoints)
        let arrivals = ArrivalLog(endpoints: endpoints)
        let answers = AnswerLog()
        let handler = RequestHandler(
            world: served,
            cursors: cursors,
            tokens: VerifiedTokens(
                BearerTokenVerifier(
                    publicKey: key.publicKey,
                    keyId: app.keyId,
                    issuerId: app.issuerId,
                    bundleId: app.bundleId
                )
            ),
            limits: RateLimits(
                configuration.rateLimit,
                routes: routes,
                environment: configuration.environment.model,
                windowSeconds: configuration.windowSeconds
            ),
            faults: faults,
            responses: ResponseBuilder(
                app: app,
                issuer: authority.issuer,
                cursors: cursors,
                faultySigners: try FaultySigners(authority: authority, anchor: worldFile.parameters.anchor),
                log: answers
            ),
            log: arrivals,
            now: now
        )
        responder = RouteResponder(
            routes: available,
            handler: handler,
            controls: Controls(
                world: served,
                issuer: authority.issuer,
                faults: faults,
                log: arrivals,
                answers: answers,
                deliveries: deliveries,
                now: now
            )
        )
        poster = configuration.delivery.flatMap { settings in
            deliveries.map { log in
                NotificationPoster(settings: settings, app: app, issuer: authority.issuer, log: log, now: now)
            }
        }
        files = PublishedFiles(
            directory: directory,
            app: app,
            root: authority.root.der,
            ids: ids,
            orders: orders,
            windowSeconds: configuration.windowSeconds
        )
    }

    private static func faults(_ path: String?, endpoints: [EndpointName]) throws(SimulatorError) -> FaultPlan {
        guard let path else { return FaultPlan() }
        guard let text = try DirectoryFile.read(path) else {
            throw SimulatorError(.input, "Reading fault rules: there is no file \(path).")
        }
        return try FaultPlan(json: text, source: path, endpoints: endpoints)
    }
}

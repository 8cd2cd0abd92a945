/// The discount of a purchase or renewal.
struct Offer: Sendable, Equatable {
    /// 1 introductory, 2 promotional, 3 offer code, 4 win-back.
    let type: Int64
    let discount: Discount
    /// Introductory offers have no identifier.
    let identifier: String?
    /// ISO 8601.
    let period: String

    enum Discount: String, Sendable {
        case freeTrial = "FREE_TRIAL"
        case payAsYouGo = "PAY_AS_YOU_GO"
        case payUpFront = "PAY_UP_FRONT"
        case oneTime = "ONE_TIME"
    }

    /// The part of the full price that is paid, in percent.
    var percentPaid: Int64 { discount == .freeTrial ? 0 : 50 }

    static let trial = Offer(type: 1, discount: .freeTrial, identifier: nil, period: "P1W")
    static let halfPrice = Offer(type: 1, discount: .payAsYouGo, identifier: nil, period: "P1M")
    static let threeMonths = Offer(type: 1, discount: .payUpFront, identifier: nil, period: "P3M")
    static let code = Offer(type: 3, discount: .freeTrial, identifier: "SPRING-CODES", period: "P1M")
    static let forFirstPurchase = [trial, halfPrice, threeMonths, code]
    static let loyalty = Offer(type: 2, discount: .payAsYouGo, identifier: "loyal.half", period: "P1M")
    static let winBack = Offer(type: 4, discount: .payUpFront, identifier: "winback.2026", period: "P1M")
    static let oneTimeCode = Offer(type: 3, discount: .oneTime, identifier: "GIFT-COINS", period: "P1M")
}

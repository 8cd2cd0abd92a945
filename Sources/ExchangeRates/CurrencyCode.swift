/// The currency codes of rates.
package enum CurrencyCode {
    /// Whether a text is a code of ISO 4217 for money, in upper case.
    ///
    /// Source: ISO 4217, lists one and three: the currencies of today, and those that the App Store (2008) or the European Central Bank's
    /// rates (1999) can still have.
    package static func isKnown(_ text: some StringProtocol) -> Bool { codes.contains(Substring(text)) }

    private static let codes = Set(
        """
        AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BYR BZD CAD CDF CHF CLP CNY COP \
        CRC CUC CUP CVE CYP CZK DJF DKK DOP DZD EEK EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HRK HTG HUF IDR ILS \
        INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LTL LVL LYD MAD MDL MGA MKD MMK MNT MOP MRO \
        MRU MTL MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR ROL RON RSD RUB RWF SAR SBD SCR SDG \
        SEK SGD SHP SIT SKK SLE SLL SOS SRD SSP STD STN SVC SYP SZL THB TJS TMT TND TOP TRL TRY TTD TWD TZS UAH UGX USD UYU UZS VED VEF \
        VES VND VUV WST XAF XCD XCG XOF XPF YER ZAR ZMK ZMW ZWG ZWL
        """
        .split(separator: " ")
    )
}

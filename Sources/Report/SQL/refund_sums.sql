-- A part of statements: purchases, how many of them were refunded, and their share.
sum(purchases) AS purchases, sum(refunded) AS refunded, round(sum(refunded) / sum(purchases), 4) AS rate,
sum(refunded_for_an_issue) AS issues

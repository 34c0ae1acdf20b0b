// A distributor's program: buys a loan's cover, lodges a claim on it with two files, and finds both again.
package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log"
	"os"

	desk "local/desk/client"
)

func given(name string) string {
	value, ok := os.LookupEnv(name)
	if !ok {
		log.Fatalf("%s is not set", name)
	}
	return value
}

func must(what string, err error) {
	if err == nil {
		return
	}
	if refused, ok := err.(*desk.GenericOpenAPIError); ok {
		log.Fatalf("%s: %v %s", what, err, refused.Body())
	}
	log.Fatalf("%s: %v", what, err)
}

func equal(found, wanted any) {
	if fmt.Sprint(found) != fmt.Sprint(wanted) {
		log.Fatalf("%v instead of %v", found, wanted)
	}
}

func paper() *os.File {
	content, err := base64.StdEncoding.DecodeString(given("CLIENT_PAPER"))
	must("paper", err)
	must("paper", os.WriteFile("paper.pdf", content, 0o600))
	file, err := os.Open("paper.pdf")
	must("paper", err)
	return file
}

func main() {
	configuration := desk.NewConfiguration()
	configuration.Servers = desk.ServerConfigurations{{URL: given("CLIENT_SERVER")}}
	client := desk.NewAPIClient(configuration)
	ctx := context.WithValue(context.Background(), desk.ContextAccessToken, given("CLIENT_KEY"))

	var loan desk.CreditLifeRequest
	must("loan", json.Unmarshal([]byte(given("CLIENT_LOAN")), &loan))
	// More than a number of 32 bits holds to the kobo.
	loan.LoanAmount = 20000001.37
	bought, _, err := client.BuyAPI.BuyCreditLife(ctx).CreditLifeRequest(loan).Execute()
	must("buy", err)
	policy := bought.Data
	equal(policy.Meta.Payload["loan_amount"], "20000001.37")
	asked := desk.NewCreditLifePriceRequest(loan.LoanAmount, loan.LoanTenure, loan.ProductId)
	priced, _, err := client.PricesAPI.ComputeCreditLifePrice(ctx).CreditLifePriceRequest(*asked).Execute()
	must("price", err)
	equal(priced.Data.Price, 115000.01)

	lodged, _, err := client.ClaimsAPI.LodgeCreditLifeClaim(ctx).
		PolicyNumber(policy.GetPolicyNumber()).IncidentType("Loss of job").Accidental("false").
		LoanOfferDate("2026-08-01").LoanRepaymentDate("2027-08-01").
		LoanAmount("20000001.37").PendingRepaymentAmount("17000000.05").
		LoanOfferLetter(paper()).EmploymentTerminationLetter(paper()).Execute()
	must("lodge", err)
	claim := lodged.Data.Claim
	equal(claim.CreditLifeClaimMeta.Get().LoanAmount, "20000001.37")

	claims, _, err := client.ClaimsAPI.ListClaims(ctx).Status("Pending").CustomerId(policy.CustomerId).Execute()
	must("list", err)
	equal(claims.Data.TotalCount, 1)
	equal(claims.Data.Claims[0].Id, claim.Id)
	found, _, err := client.PoliciesAPI.SearchPolicies(ctx).CustomerEmail(policy.Email).
		StartDate(policy.CreatedAt.Format("2006-01-02T15:04:05.000Z07:00")).Limit(5).Execute()
	must("search", err)
	equal(found.Data.Policies[0].Id, policy.Id)
	one, _, err := client.PoliciesAPI.GetPolicy(ctx, policy.Id).Execute()
	must("policy", err)
	equal(one.Data.Policy.Purchase.Total, found.Data.Policies[0].Purchase.Total)
	equal(one.Data.Policy.Product.Provider.Id, one.Data.Policy.Provider.Id)
}

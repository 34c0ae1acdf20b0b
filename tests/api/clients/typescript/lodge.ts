// A distributor's program: buys a loan's cover, lodges a claim on it with two files, and finds both again.
import createClient from "openapi-fetch";
import type { components, paths } from "./schema.js";

declare const process: { env: Record<string, string | undefined> };

function given(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set`);
  return value;
}

function need<T>(answer: { data?: { data: T }; error?: { responseText: string; errorData: unknown } }): T {
  if (answer.data === undefined) throw new Error(JSON.stringify(answer.error));
  return answer.data.data;
}

function equal(found: unknown, wanted: unknown): void {
  if (found !== wanted) throw new Error(`${JSON.stringify(found)} instead of ${JSON.stringify(wanted)}`);
}

function asForm(body: Record<string, string | Blob | undefined>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(body)) {
    if (value instanceof Blob) form.append(name, value, `${name}.pdf`);
    else if (value !== undefined) form.append(name, value);
  }
  return form;
}

const client = createClient<paths>({
  baseUrl: given("CLIENT_SERVER"),
  headers: { Authorization: `Bearer ${given("CLIENT_KEY")}` },
});
const loan: components["schemas"]["CreditLifeRequest"] = JSON.parse(given("CLIENT_LOAN"));
const policy = need(
  await client.POST("/products/buy-credit-life", { body: { ...loan, loan_amount: 20000001.37 } }),
);
equal(policy.purchase_id.length, 36);
equal(need(await client.POST("/products/credit-life-price", { body: { ...loan, loan_amount: 20000001.37 } })).price, 115000.01);

const letter = new Blob([Uint8Array.from(atob(given("CLIENT_PAPER")), (each) => each.charCodeAt(0))], {
  type: "application/pdf",
});
const claim = need(
  await client.POST("/claims/credit-life", {
    body: {
      policy_number: policy.meta.policy_number ?? "",
      incident_type: "Loss of job",
      accidental: "false",
      loan_offer_date: "2026-08-01",
      loan_repayment_date: "2027-08-01",
      loan_amount: "20000001.37",
      pending_repayment_amount: "17000000.05",
      loan_offer_letter: letter,
      employment_termination_letter: letter,
    },
    bodySerializer: asForm,
  }),
).claim;
equal(claim.credit_life_claim_meta?.loan_amount, "20000001.37");

const page = need(
  await client.GET("/claims", { params: { query: { status: "Pending", customer_id: policy.customer_id } } }),
);
equal(page.total_count, 1);
equal(page.claims[0]?.id, claim.id);
const found = need(
  await client.GET("/policies/search", {
    params: { query: { customer_email: policy.email, start_date: policy.created_at, limit: 5 } },
  }),
).policies[0];
equal(found?.id, policy.id);
equal(found?.provider.company_name.length !== 0, true);
const one = need(await client.GET("/policies/{policy_id}", { params: { path: { policy_id: policy.id } } })).policy;
equal(one.product.provider?.id, one.provider.id);
equal(one.purchase.total, found?.purchase.total);

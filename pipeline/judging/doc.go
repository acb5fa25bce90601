// Package judging is where judges meet the store: it reads the configuration of models, keeps their replies and what they cost, holds
// budgets, and gives stages a desk at which judges get their answers.
//
// It joins judges/model and store; it knows no family and no prompt, prints nothing, and decides about no candidate.
package judging

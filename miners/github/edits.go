package github

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/google/go-github/v62/github"
)

// editsQuery asks what the REST API does not tell: when a text was last edited, and which issues GitHub holds for linked, by hand too.
const editsQuery = `query($owner:String!,$name:String!,$number:Int!){repository(owner:$owner,name:$name){` +
	`issueOrPullRequest(number:$number){...on Issue{lastEditedAt} ...on PullRequest{lastEditedAt ` +
	`closingIssuesReferences(first:50){nodes{number repository{nameWithOwner}}}}}}}`

// told is the answer to editsQuery.
type told struct {
	Data struct {
		Repository struct {
			Item *struct {
				LastEdited *time.Time `json:"lastEditedAt"`
				Closing    struct {
					Nodes []struct {
						Number     int `json:"number"`
						Repository struct {
							Name string `json:"nameWithOwner"`
						} `json:"repository"`
					} `json:"nodes"`
				} `json:"closingIssuesReferences"`
			} `json:"issueOrPullRequest"`
		} `json:"repository"`
	} `json:"data"`
	Errors []struct {
		Type string `json:"type"`
	} `json:"errors"`
}

// edits asks GraphQL about an item. It needs a token; where it cannot be asked, nothing is known: nil.
func (c *Client) edits(ctx context.Context, r Repository, it Item) (json.RawMessage, error) {
	if len(c.o.Tokens) == 0 && c.o.Replay == "" || c.noEdits.Load() {
		return nil, nil
	}
	owner, name, _ := strings.Cut(r.Name, "/")
	body := map[string]any{"query": editsQuery, "variables": map[string]any{"owner": owner, "name": name, "number": it.Number}}
	pg, _, err := c.send(ctx, http.MethodPost, c.graphqlPath(), body)
	var status *StatusError
	switch {
	case errors.As(err, &status) || errors.Is(err, ErrNotRecorded):
		c.noEdits.Store(true) // this host, or this token, has no GraphQL
		return nil, nil
	case err != nil:
		return nil, err
	}
	var t told
	if json.Unmarshal(pg.body, &t) != nil || t.Data.Repository.Item == nil || len(t.Errors) > 0 {
		return nil, nil
	}
	return pg.body, nil
}

// graphqlPath is beside the REST API: /graphql, and /api/graphql for /api/v3/.
func (c *Client) graphqlPath() string {
	if strings.HasSuffix(c.base.Path, "/api/v3/") {
		return "../graphql"
	}
	return "graphql"
}

// graphqlLimit makes of GraphQL's way to refuse, an answer with status 200, the error that REST gives.
func graphqlLimit(body []byte, resp *github.Response) error {
	var t told
	if json.Unmarshal(body, &t) != nil {
		return nil
	}
	for _, e := range t.Errors {
		if e.Type == "RATE_LIMITED" {
			return &github.RateLimitError{Rate: resp.Rate, Response: resp.Response, Message: "GraphQL's rate limit"}
		}
	}
	return nil
}

// toldBy reads an answer to editsQuery that was kept; ok is false when GitHub was not asked or did not tell.
func toldBy(raw json.RawMessage) (t told, ok bool) {
	ok = len(raw) > 0 && json.Unmarshal(raw, &t) == nil && t.Data.Repository.Item != nil
	return t, ok
}

// toldLinks lists the issues of this repository that GitHub itself holds for linked with the change.
func (b Bundle) toldLinks() (out []int) {
	t, ok := toldBy(b.Edits)
	if !ok {
		return nil
	}
	for _, n := range t.Data.Repository.Item.Closing.Nodes {
		if strings.EqualFold(n.Repository.Name, b.Repo.Name) {
			out = append(out, n.Number)
		}
	}
	return out
}

// lastEdit is when a description was last edited: known tells whether GitHub told, a zero time that it never was.
func lastEdit(raw json.RawMessage) (at time.Time, known bool) {
	t, ok := toldBy(raw)
	if !ok || t.Data.Repository.Item.LastEdited == nil {
		return at, ok
	}
	return *t.Data.Repository.Item.LastEdited, true
}

"""Uses the published swebench package on an export: "scripts" writes each instance's eval script as the harness makes it,
"grade" grades the captured logs as the harness does, "rows" loads the file as users of the datasets library do."""

import json
import sys
from pathlib import Path

from datasets import load_dataset
from swebench.harness.grading import get_eval_report
from swebench.harness.utils import load_swebench_dataset, make_test_spec

command, dataset, folder = sys.argv[1], sys.argv[2], Path(sys.argv[3])
out = {}
if command == "rows":
    rows = load_dataset("json", data_files={"test": dataset}, split="test", cache_dir=str(folder))
    out = {r["instance_id"]: {"image": r["image_name"], "statement": r["problem_statement"]} for r in rows}
else:
    for row in load_swebench_dataset(dataset, "test"):
        spec = make_test_spec(row)
        if command == "scripts":
            (folder / f"{spec.instance_id}.sh").write_text(spec.eval_script, newline="")
            out[spec.instance_id] = spec.image
            continue
        prediction = {"instance_id": spec.instance_id, "model_patch": row["patch"], "model_name_or_path": "gold"}
        for log in sorted(folder.glob(f"{spec.instance_id}.*.log")):
            report = get_eval_report(spec, prediction, str(log), include_tests_status=True)
            out[log.stem] = report[spec.instance_id]
print("RESULT " + json.dumps(out))

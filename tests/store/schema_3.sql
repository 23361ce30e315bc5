BEGIN TRANSACTION;
CREATE TABLE claims (
	run INTEGER NOT NULL, 
	sample TEXT NOT NULL, 
	judge TEXT NOT NULL, 
	repeat INTEGER NOT NULL, 
	worker VARCHAR(64) NOT NULL, 
	PRIMARY KEY (run, sample, judge, repeat), 
	FOREIGN KEY(run, sample) REFERENCES run_samples (run, sample) ON DELETE CASCADE, 
	FOREIGN KEY(worker) REFERENCES workers (id) ON DELETE CASCADE
);
CREATE TABLE datasets (
	fingerprint VARCHAR(64) NOT NULL, 
	benchmark TEXT NOT NULL, 
	root TEXT NOT NULL, 
	missing JSON NOT NULL, 
	traits JSON NOT NULL, 
	PRIMARY KEY (fingerprint)
);
INSERT INTO "datasets" VALUES('4abe9dfb570879556b56f1542f6d40d910a14d32c7cf18a799c3338fb57e72b4','demo','/clips/demo','[]','{"demo": {"aggregation": null, "metrics": ["meteor", "bleu_1", "bleu_2", "bleu_3", "bleu_4", "rouge_l"], "columns": ["meteor", "bleu_4", "rouge_l"], "headline": "meteor", "judge": "audiocapbench", "controls": {"safe": {"sound": "A sound is heard in the background.", "music": "An instrumental piece of music with a steady beat and a pleasant mood.", "speech": "A person is speaking in a clear voice.", "mixed": "A person is speaking with a sound in the background.", "silence": "There is almost no sound in the recording."}, "safe_anywhere": "A sound is heard.", "wrong_from": "benchmark"}}, "trial/check/demo": {"aggregation": null, "metrics": ["meteor", "bleu_1", "bleu_2", "bleu_3", "bleu_4", "rouge_l"], "columns": ["meteor", "bleu_4", "rouge_l"], "headline": "meteor", "judge": "audiocapbench", "controls": {"safe": {"sound": "A sound is heard in the background.", "music": "An instrumental piece of music with a steady beat and a pleasant mood.", "speech": "A person is speaking in a clear voice.", "mixed": "A person is speaking with a sound in the background.", "silence": "There is almost no sound in the recording."}, "safe_anywhere": "A sound is heard.", "wrong_from": "benchmark"}}, "trial/pairwise/simple": {"aggregation": null, "metrics": ["meteor", "bleu_1", "bleu_2", "bleu_3", "bleu_4", "rouge_l"], "columns": ["meteor", "bleu_4", "rouge_l"], "headline": "meteor", "judge": "audiocapbench", "controls": {"safe": {"sound": "A sound is heard in the background.", "music": "An instrumental piece of music with a steady beat and a pleasant mood.", "speech": "A person is speaking in a clear voice.", "mixed": "A person is speaking with a sound in the background.", "silence": "There is almost no sound in the recording."}, "safe_anywhere": "A sound is heard.", "wrong_from": "benchmark"}}}');
INSERT INTO "datasets" VALUES('data of 66','mecat-caption','nowhere','[]','{"mecat-caption": {"aggregation": {"total": "Score_Cap", "weights": {"long": 0.32000000000000006, "short": 0.08000000000000002, "pure_speech": 0.12000000000000002, "mixed_speech": 0.12000000000000002, "pure_music": 0.06000000000000001, "mixed_music": 0.06000000000000001, "pure_sound": 0.02, "mixed_sound": 0.02, "environment": 0.2}, "metric_options": {"long": {"subtask": "long"}, "short": {"subtask": "short"}, "pure_speech": {"subtask": "speech"}, "mixed_speech": {"subtask": "speech"}, "pure_music": {"subtask": "music"}, "mixed_music": {"subtask": "music"}, "pure_sound": {"subtask": "sound"}, "mixed_sound": {"subtask": "sound"}, "environment": {"subtask": "environment"}, "outside_speech": {"subtask": "speech"}, "outside_music": {"subtask": "music"}, "outside_sound": {"subtask": "sound"}}, "clip_detail": "clip", "facet_details": {"domain": ["domain", "subtask"]}, "null_references": ["none"]}, "metrics": ["date", "similarity", "bleu_4", "rouge_l"], "columns": ["date", "similarity", "bleu_4"], "headline": "date", "judge": "mecat-caption", "controls": {"safe": {"sound": "A sound is heard in the background.", "music": "An instrumental piece of music with a steady beat and a pleasant mood.", "speech": "A person is speaking in a clear voice.", "mixed": "A person is speaking with a sound in the background.", "silence": "There is almost no sound in the recording."}, "safe_anywhere": "A sound is heard.", "wrong_from": "benchmark"}}}');
INSERT INTO "datasets" VALUES('data of 48','mecat-qa','nowhere','[]','{"mecat-qa": {"aggregation": {"total": "Score_QA", "weights": {"direct_perception": 0.16666666666666666, "sound_characteristics": 0.16666666666666666, "quality_assessment": 0.16666666666666666, "environment_reasoning": 0.16666666666666666, "inference_judgement": 0.16666666666666666, "application_context": 0.16666666666666666}, "metric_options": {"direct_perception": {"subtask": "qa"}, "sound_characteristics": {"subtask": "qa"}, "quality_assessment": {"subtask": "qa"}, "environment_reasoning": {"subtask": "qa"}, "inference_judgement": {"subtask": "qa"}, "application_context": {"subtask": "qa"}}, "clip_detail": "clip", "facet_details": {"domain": ["domain"], "difficulty": ["difficulty"]}, "null_references": []}, "metrics": ["date", "similarity", "bleu_4", "rouge_l"], "columns": ["date", "similarity", "bleu_4"], "headline": "date", "judge": "mecat-qa", "controls": {"safe": {"sound": "A sound is heard in the background.", "music": "An instrumental piece of music with a steady beat and a pleasant mood.", "speech": "A person is speaking in a clear voice.", "mixed": "A person is speaking with a sound in the background.", "silence": "There is almost no sound in the recording."}, "safe_anywhere": "A sound is heard.", "wrong_from": "benchmark"}}}');
CREATE TABLE embeddings (
	model TEXT NOT NULL, 
	setting TEXT NOT NULL, 
	content VARCHAR(64) NOT NULL, 
	dimensions INTEGER NOT NULL, 
	vector BLOB NOT NULL, 
	made_at TEXT NOT NULL, 
	PRIMARY KEY (model, setting, content)
);
INSERT INTO "embeddings" VALUES('tiny@1','text','abababababababababababababababababababababababababababababababab',2,X'0000803F000000BF','2026-11-15T14:59:47.708+00:00');
CREATE TABLE estimates (
	run INTEGER NOT NULL, 
	scorer TEXT NOT NULL, 
	"group" TEXT NOT NULL, 
	made_by TEXT NOT NULL, 
	counts JSON NOT NULL, 
	lacks JSON, 
	value FLOAT, 
	low FLOAT, 
	high FLOAT, 
	as_zero FLOAT, 
	worst FLOAT, 
	best FLOAT, 
	signature INTEGER NOT NULL, 
	PRIMARY KEY (run, scorer, "group"), 
	FOREIGN KEY(run) REFERENCES runs (id) ON DELETE CASCADE, 
	FOREIGN KEY(signature) REFERENCES signatures (id)
);
INSERT INTO "estimates" VALUES(1,'elements: overall','all','audiocapbench 0.1.0','{"n": 5, "total": 5, "answered": 5, "empty": 0}','null',5.77295925702802747992e+00,NULL,NULL,5.77295925702802747992e+00,5.77295925702802747992e+00,5.77295925702802747992e+00,32);
INSERT INTO "estimates" VALUES(1,'elements: overall','category=sound','audiocapbench 0.1.0','{"n": 5, "total": 5, "answered": 5, "empty": 0}','null',5.77295925702802747992e+00,NULL,NULL,5.77295925702802747992e+00,5.77295925702802747992e+00,5.77295925702802747992e+00,32);
INSERT INTO "estimates" VALUES(2,'elements: overall','all','audiocapbench 0.1.0','{"n": 5, "total": 5, "answered": 5, "empty": 0}','null',9.08298907333705152212e+00,NULL,NULL,9.08298907333705152212e+00,9.08298907333705152212e+00,9.08298907333705152212e+00,32);
INSERT INTO "estimates" VALUES(2,'elements: overall','category=sound','audiocapbench 0.1.0','{"n": 5, "total": 5, "answered": 5, "empty": 0}','null',9.08298907333705152212e+00,NULL,NULL,9.08298907333705152212e+00,9.08298907333705152212e+00,9.08298907333705152212e+00,32);
INSERT INTO "estimates" VALUES(3,'elements: overall','all','audiocapbench 0.1.0','{"n": 5, "total": 5, "answered": 5, "empty": 0}','null',4.64147820241099928751e+00,NULL,NULL,4.64147820241099928751e+00,4.64147820241099928751e+00,4.64147820241099928751e+00,32);
INSERT INTO "estimates" VALUES(3,'elements: overall','category=sound','audiocapbench 0.1.0','{"n": 5, "total": 5, "answered": 5, "empty": 0}','null',4.64147820241099928751e+00,NULL,NULL,4.64147820241099928751e+00,4.64147820241099928751e+00,4.64147820241099928751e+00,32);
INSERT INTO "estimates" VALUES(10,'date','all','audiocapbench 0.1.0','{"n": 54, "total": 57, "answered": 57, "empty": 0}','["pure_speech", "pure_music", "pure_sound"]',NULL,NULL,NULL,4.59979574234488541862e-01,4.59979574234488541862e-01,6.59979574234488608475e-01,34);
INSERT INTO "estimates" VALUES(10,'date','category=long','audiocapbench 0.1.0','{"n": 11, "total": 11, "answered": 11, "empty": 0}','null',5.29842357923099749328e-01,4.58948498477841970722e-01,0.587525230517198,5.29842357923099749328e-01,5.29842357923099749328e-01,5.29842357923099749328e-01,22);
INSERT INTO "estimates" VALUES(10,'date','category=short','audiocapbench 0.1.0','{"n": 11, "total": 11, "answered": 11, "empty": 0}','null',0.534615820740326,4.7126978812043468503e-01,6.56956721627948159181e-01,0.534615820740326,0.534615820740326,0.534615820740326,25);
INSERT INTO "estimates" VALUES(10,'date','category=outside_speech','audiocapbench 0.1.0','{"n": 3, "total": 3, "answered": 3, "empty": 0}','null',0.0,NULL,NULL,0.0,0.0,0.0,28);
INSERT INTO "estimates" VALUES(10,'date','category=outside_music','audiocapbench 0.1.0','{"n": 3, "total": 3, "answered": 3, "empty": 0}','null',0.0,NULL,NULL,0.0,0.0,0.0,23);
INSERT INTO "estimates" VALUES(10,'date','category=outside_sound','audiocapbench 0.1.0','{"n": 3, "total": 3, "answered": 3, "empty": 0}','null',0.0,NULL,NULL,0.0,0.0,0.0,27);
INSERT INTO "estimates" VALUES(10,'date','category=environment','audiocapbench 0.1.0','{"n": 11, "total": 11, "answered": 11, "empty": 0}','null',0.617797105772452,5.50177263397983229432e-01,7.15787332343673643464e-01,0.617797105772452,0.617797105772452,0.617797105772452,21);
INSERT INTO "estimates" VALUES(10,'date','category=pure_sound','audiocapbench 0.1.0','{"n": 0, "total": 1, "answered": 1, "empty": 0}','null',NULL,NULL,NULL,0.0,0.0,1.0,33);
INSERT INTO "estimates" VALUES(10,'date','category=pure_music','audiocapbench 0.1.0','{"n": 0, "total": 1, "answered": 1, "empty": 0}','null',NULL,NULL,NULL,0.0,0.0,1.0,33);
INSERT INTO "estimates" VALUES(10,'date','category=mixed_speech','audiocapbench 0.1.0','{"n": 7, "total": 7, "answered": 7, "empty": 0}','null',6.42140007112615762708e-01,NULL,NULL,6.42140007112615762708e-01,6.42140007112615762708e-01,6.42140007112615762708e-01,28);
INSERT INTO "estimates" VALUES(10,'date','category=mixed_music','audiocapbench 0.1.0','{"n": 7, "total": 7, "answered": 7, "empty": 0}','null',6.03500786035948477704e-01,NULL,NULL,6.03500786035948477704e-01,6.03500786035948477704e-01,6.03500786035948477704e-01,23);
INSERT INTO "estimates" VALUES(10,'date','category=mixed_sound','audiocapbench 0.1.0','{"n": 7, "total": 7, "answered": 7, "empty": 0}','null',5.41724243485460887904e-01,NULL,NULL,5.41724243485460887904e-01,5.41724243485460887904e-01,5.41724243485460887904e-01,27);
INSERT INTO "estimates" VALUES(10,'date','category=pure_speech','audiocapbench 0.1.0','{"n": 0, "total": 1, "answered": 1, "empty": 0}','null',NULL,NULL,NULL,0.0,0.0,1.0,33);
INSERT INTO "estimates" VALUES(11,'date','all','audiocapbench 0.1.0','{"n": 53, "total": 57, "answered": 56, "empty": 0}','["pure_speech", "pure_music", "pure_sound"]',NULL,NULL,NULL,1.20888283607734264846e-01,1.20888283607734264846e-01,3.28161010880461567751e-01,34);
INSERT INTO "estimates" VALUES(11,'date','category=long','audiocapbench 0.1.0','{"n": 11, "total": 11, "answered": 11, "empty": 0}','null',1.45268364789905568557e-01,4.75931740883619169846e-02,3.03909017583018858932e-01,1.45268364789905568557e-01,1.45268364789905568557e-01,1.45268364789905568557e-01,22);
INSERT INTO "estimates" VALUES(11,'date','category=short','audiocapbench 0.1.0','{"n": 10, "total": 11, "answered": 10, "empty": 0}','null',1.87211585917104628152e-01,0.0563430734534879,3.41993766645752428346e-01,1.70192350833731464999e-01,1.70192350833731464999e-01,2.61101441742822404368e-01,25);
INSERT INTO "estimates" VALUES(11,'date','category=outside_speech','audiocapbench 0.1.0','{"n": 3, "total": 3, "answered": 3, "empty": 0}','null',0.0,NULL,NULL,0.0,0.0,0.0,28);
INSERT INTO "estimates" VALUES(11,'date','category=outside_music','audiocapbench 0.1.0','{"n": 3, "total": 3, "answered": 3, "empty": 0}','null',0.0,NULL,NULL,0.0,0.0,0.0,23);
INSERT INTO "estimates" VALUES(11,'date','category=outside_sound','audiocapbench 0.1.0','{"n": 3, "total": 3, "answered": 3, "empty": 0}','null',0.0,NULL,NULL,0.0,0.0,0.0,27);
INSERT INTO "estimates" VALUES(11,'date','category=environment','audiocapbench 0.1.0','{"n": 11, "total": 11, "answered": 11, "empty": 0}','null',1.64281215736291369423e-01,7.61947257105568126478e-02,2.88907910032090320396e-01,1.64281215736291369423e-01,1.64281215736291369423e-01,1.64281215736291369423e-01,21);
INSERT INTO "estimates" VALUES(11,'date','category=pure_sound','audiocapbench 0.1.0','{"n": 0, "total": 1, "answered": 1, "empty": 0}','null',NULL,NULL,NULL,0.0,0.0,1.0,33);
INSERT INTO "estimates" VALUES(11,'date','category=pure_music','audiocapbench 0.1.0','{"n": 0, "total": 1, "answered": 1, "empty": 0}','null',NULL,NULL,NULL,0.0,0.0,1.0,33);
INSERT INTO "estimates" VALUES(11,'date','category=mixed_speech','audiocapbench 0.1.0','{"n": 7, "total": 7, "answered": 7, "empty": 0}','null',1.16361685692606284248e-01,NULL,NULL,1.16361685692606284248e-01,1.16361685692606284248e-01,1.16361685692606284248e-01,28);
INSERT INTO "estimates" VALUES(11,'date','category=mixed_music','audiocapbench 0.1.0','{"n": 7, "total": 7, "answered": 7, "empty": 0}','null',2.32789556298248767607e-01,NULL,NULL,2.32789556298248767607e-01,2.32789556298248767607e-01,2.32789556298248767607e-01,23);
INSERT INTO "estimates" VALUES(11,'date','category=mixed_sound','audiocapbench 0.1.0','{"n": 7, "total": 7, "answered": 7, "empty": 0}','null',0.0,NULL,NULL,0.0,0.0,0.0,27);
INSERT INTO "estimates" VALUES(11,'date','category=pure_speech','audiocapbench 0.1.0','{"n": 0, "total": 1, "answered": 1, "empty": 0}','null',NULL,NULL,NULL,0.0,0.0,1.0,33);
INSERT INTO "estimates" VALUES(12,'date','all','audiocapbench 0.1.0','{"n": 48, "total": 48, "answered": 48, "empty": 0}','[]',9.33333333333333459159e-01,NULL,NULL,9.33333333333333348136e-01,9.33333333333333348136e-01,9.33333333333333348136e-01,35);
INSERT INTO "estimates" VALUES(12,'date','category=direct_perception','audiocapbench 0.1.0','{"n": 8, "total": 8, "answered": 8, "empty": 0}','null',9.33333333333333348136e-01,NULL,NULL,9.33333333333333348136e-01,9.33333333333333348136e-01,9.33333333333333348136e-01,24);
INSERT INTO "estimates" VALUES(12,'date','category=sound_characteristics','audiocapbench 0.1.0','{"n": 8, "total": 8, "answered": 8, "empty": 0}','null',9.33333333333333348136e-01,NULL,NULL,9.33333333333333348136e-01,9.33333333333333348136e-01,9.33333333333333348136e-01,24);
INSERT INTO "estimates" VALUES(12,'date','category=quality_assessment','audiocapbench 0.1.0','{"n": 8, "total": 8, "answered": 8, "empty": 0}','null',9.33333333333333348136e-01,NULL,NULL,9.33333333333333348136e-01,9.33333333333333348136e-01,9.33333333333333348136e-01,24);
INSERT INTO "estimates" VALUES(12,'date','category=environment_reasoning','audiocapbench 0.1.0','{"n": 8, "total": 8, "answered": 8, "empty": 0}','null',9.33333333333333348136e-01,NULL,NULL,9.33333333333333348136e-01,9.33333333333333348136e-01,9.33333333333333348136e-01,24);
INSERT INTO "estimates" VALUES(12,'date','category=inference_judgement','audiocapbench 0.1.0','{"n": 8, "total": 8, "answered": 8, "empty": 0}','null',9.33333333333333348136e-01,NULL,NULL,9.33333333333333348136e-01,9.33333333333333348136e-01,9.33333333333333348136e-01,24);
INSERT INTO "estimates" VALUES(12,'date','category=application_context','audiocapbench 0.1.0','{"n": 8, "total": 8, "answered": 8, "empty": 0}','null',9.33333333333333348136e-01,NULL,NULL,9.33333333333333348136e-01,9.33333333333333348136e-01,9.33333333333333348136e-01,24);
CREATE TABLE judge_checks (
	judge TEXT NOT NULL, 
	benchmark TEXT NOT NULL, 
	contract TEXT NOT NULL, 
	document JSON NOT NULL, 
	checked_at TEXT NOT NULL, 
	PRIMARY KEY (judge, benchmark, contract)
);
INSERT INTO "judge_checks" VALUES('elements','demo','judge-elements','{"judge": "elements", "signature": "judge-elements|rules:1|encoder:wordllama@461d9f72|stem:porter|wordnet:3.0|protocol:1", "repeats": 1, "kinds": {"right": {"n": 3, "mean": 8.699078874952129, "interval": null, "dimensions": {"accuracy": 8.651743532748599, "completeness": 8.112159758774453, "hallucination": 9.333333333333334}, "kappa": null}, "safe": {"n": 3, "mean": 4.202911037923836, "interval": null, "dimensions": {"accuracy": 2.6000000370873337, "completeness": 0.008733076684174355, "hallucination": 10.0}, "kappa": null}, "wrong": {"n": 3, "mean": 0.8239943980174976, "interval": null, "dimensions": {"accuracy": 1.2647745973853384, "completeness": 0.7086330980916555, "hallucination": 0.49857549857549904}, "kappa": null}}, "auc_right_safe": 1.0, "auc_safe_wrong": 1.0, "kappa": null, "length_correlation": -0.5698028822981897, "styles": {"padded": {"n": 3, "shift": -0.06271849973623489, "interval": null}, "shortened": {"n": 2, "shift": 0.0, "interval": null}}, "failed": 0, "ordered": true, "warning": null}','2026-11-15T14:59:35.756+00:00');
CREATE TABLE judgements (
	run INTEGER NOT NULL, 
	sample TEXT NOT NULL, 
	judge TEXT NOT NULL, 
	reasoning TEXT, 
	error TEXT, 
	status VARCHAR(16) NOT NULL, 
	"values" JSON NOT NULL, 
	judged_at TEXT NOT NULL, 
	repeat INTEGER NOT NULL, 
	input_tokens INTEGER, 
	output_tokens INTEGER, 
	latency_s FLOAT NOT NULL, 
	cost_usd FLOAT, 
	signature INTEGER NOT NULL, 
	PRIMARY KEY (run, sample, judge, repeat), 
	FOREIGN KEY(run, sample) REFERENCES run_samples (run, sample) ON DELETE CASCADE, 
	FOREIGN KEY(signature) REFERENCES signatures (id)
);
INSERT INTO "judgements" VALUES(1,'sound_01','elements','Matched: steady, rain, running, water, rumble, 3 more; missing: falls, falling, cracks, slowly, long, 1 more; unsupported: hiss, perhaps, low, passing, dies.',NULL,'ok','{"accuracy": 5.385112700177662, "completeness": 8.640354501920966, "hallucination": 5.5357142857142865}','2026-11-15T14:59:13.765+00:00',0,NULL,NULL,0.0,0.0,32);
INSERT INTO "judgements" VALUES(1,'sound_02','elements','Matched: thuds, footsteps, rough, thump; missing: door, creaks, squeaking, creaking, shut, 10 more; unsupported: regular, dull, 105, minute, perhaps, 4 more.',NULL,'ok','{"accuracy": 3.572899335487323, "completeness": 4.1488061853274285, "hallucination": 3.902439024390243}','2026-11-15T14:59:13.765+00:00',0,NULL,NULL,0.0,0.0,32);
INSERT INTO "judgements" VALUES(1,'sound_03','elements','Matched: low, growl, animal, short, bark; missing: several, few, loud, loudly, angry, 1 more; unsupported: rough, perhaps, motor, harsh, cough.',NULL,'ok','{"accuracy": 5.364934811791913, "completeness": 9.347295485300357, "hallucination": 5.161290322580645}','2026-11-15T14:59:13.765+00:00',0,NULL,NULL,0.0,0.0,32);
INSERT INTO "judgements" VALUES(1,'sound_04','elements','Matched: wind, chirps, birds; missing: day, answers, outdoors, softly, background, 1 more; unsupported: dull, perhaps, machinery, throughout, high-pitched.',NULL,'ok','{"accuracy": 4.801122095169765, "completeness": 8.820084931739675, "hallucination": 5.161290322580645}','2026-11-15T14:59:13.765+00:00',0,NULL,NULL,0.0,0.0,32);
INSERT INTO "judgements" VALUES(1,'sound_05','elements','Matched: engine, helicopter, runs; missing: cranks, left, fades, distance; unsupported: throbbing, perhaps.',NULL,'ok','{"accuracy": 4.428998489076129, "completeness": 6.170200210317217, "hallucination": 6.153846153846154}','2026-11-15T14:59:13.765+00:00',0,NULL,NULL,0.0,0.0,32);
INSERT INTO "judgements" VALUES(2,'sound_01','elements','Matched: rain, pours, hard, thunder, rolls; missing: falling, rumble, falls, rumbles, loud, 3 more; unsupported: cracks, slowly.',NULL,'ok','{"accuracy": 7.25985148373772, "completeness": 6.995106067196057, "hallucination": 8.0}','2026-11-15T14:59:14.100+00:00',0,NULL,NULL,0.0,0.0,32);
INSERT INTO "judgements" VALUES(2,'sound_02','elements','Matched: walks, floor, door, creaks, slams; missing: shut, person, room, hinge, hard, 5 more; unsupported: nothing.',NULL,'ok','{"accuracy": 9.65420244201537, "completeness": 8.134928403082776, "hallucination": 10.0}','2026-11-15T14:59:14.100+00:00',0,NULL,NULL,0.0,0.0,32);
INSERT INTO "judgements" VALUES(2,'sound_03','elements','Matched: dog, growls, barks, loudly; missing: several, few, low, quietly, sharp; unsupported: angry.',NULL,'ok','{"accuracy": 9.041176672492707, "completeness": 9.206444806044525, "hallucination": 10.0}','2026-11-15T14:59:14.100+00:00',0,NULL,NULL,0.0,0.0,32);
INSERT INTO "judgements" VALUES(2,'sound_04','elements','Matched: wind, blowing, birds, chirping; missing: day, answers, outdoors, softly, background; unsupported: few.',NULL,'ok','{"accuracy": 9.24418610195781, "completeness": 9.509273015591669, "hallucination": 10.0}','2026-11-15T14:59:14.100+00:00',0,NULL,NULL,0.0,0.0,32);
INSERT INTO "judgements" VALUES(2,'sound_05','elements','Matched: car, engine, idles, revs, drives; missing: cranks, left, fades, distance; unsupported: nothing.',NULL,'ok','{"accuracy": 9.7932035724322, "completeness": 9.406463535504932, "hallucination": 10.0}','2026-11-15T14:59:14.100+00:00',0,NULL,NULL,0.0,0.0,32);
INSERT INTO "judgements" VALUES(3,'sound_01','elements','Matched: background; missing: rain, thunder, rumble, falls, falling, 12 more; unsupported: nothing.',NULL,'ok','{"accuracy": 4.466666777928669, "completeness": 0.026199230052523066, "hallucination": 10.0}','2026-11-15T14:59:24.432+00:00',0,NULL,NULL,0.0,0.0,32);
INSERT INTO "judgements" VALUES(3,'sound_02','elements','Matched: nothing; missing: footsteps, walk, door, creaks, slams, 17 more; unsupported: background.',NULL,'ok','{"accuracy": 1.6666666666666665, "completeness": 0.0, "hallucination": 10.0}','2026-11-15T14:59:24.432+00:00',0,NULL,NULL,0.0,0.0,32);
INSERT INTO "judgements" VALUES(3,'sound_03','elements','Matched: nothing; missing: dog, growls, barks, growling, barking, 8 more; unsupported: background.',NULL,'ok','{"accuracy": 1.6666666666666665, "completeness": 0.0, "hallucination": 10.0}','2026-11-15T14:59:24.432+00:00',0,NULL,NULL,0.0,0.0,32);
INSERT INTO "judgements" VALUES(3,'sound_04','elements','Matched: background; missing: birds, chirp, wind, chirping, windy, 11 more; unsupported: nothing.',NULL,'ok','{"accuracy": 7.266666889190673, "completeness": 0.03888230018269287, "hallucination": 10.0}','2026-11-15T14:59:24.432+00:00',0,NULL,NULL,0.0,0.0,32);
INSERT INTO "judgements" VALUES(3,'sound_05','elements','Matched: background; missing: engine, idles, idling, car, vehicle, 6 more; unsupported: nothing.',NULL,'ok','{"accuracy": 4.466666777928669, "completeness": 0.02375772754842865, "hallucination": 10.0}','2026-11-15T14:59:24.432+00:00',0,NULL,NULL,0.0,0.0,32);
INSERT INTO "judgements" VALUES(4,'sound_01','elements','Matched: rain, pours, hard, thunder, rolls; missing: falling, rumble, falls, rumbles, loud, 3 more; unsupported: cracks, slowly.',NULL,'ok','{"accuracy": 7.25985148373772, "completeness": 6.995106067196057, "hallucination": 8.0}','2026-11-15T14:59:34.828+00:00',0,NULL,NULL,0.0,0.0,32);
INSERT INTO "judgements" VALUES(4,'sound_02','elements','Matched: walks, floor, door, creaks, slams; missing: shut, person, room, hinge, hard, 5 more; unsupported: nothing.',NULL,'ok','{"accuracy": 9.65420244201537, "completeness": 8.134928403082776, "hallucination": 10.0}','2026-11-15T14:59:34.828+00:00',0,NULL,NULL,0.0,0.0,32);
INSERT INTO "judgements" VALUES(4,'sound_03','elements','Matched: dog, growls, barks, loudly; missing: several, few, low, quietly, sharp; unsupported: angry.',NULL,'ok','{"accuracy": 9.041176672492707, "completeness": 9.206444806044525, "hallucination": 10.0}','2026-11-15T14:59:34.828+00:00',0,NULL,NULL,0.0,0.0,32);
INSERT INTO "judgements" VALUES(5,'sound_01','elements','Matched: background; missing: rain, thunder, rumble, falls, falling, 12 more; unsupported: nothing.',NULL,'ok','{"accuracy": 4.466666777928669, "completeness": 0.026199230052523066, "hallucination": 10.0}','2026-11-15T14:59:35.154+00:00',0,NULL,NULL,0.0,0.0,32);
INSERT INTO "judgements" VALUES(5,'sound_02','elements','Matched: nothing; missing: footsteps, walk, door, creaks, slams, 17 more; unsupported: background.',NULL,'ok','{"accuracy": 1.6666666666666665, "completeness": 0.0, "hallucination": 10.0}','2026-11-15T14:59:35.154+00:00',0,NULL,NULL,0.0,0.0,32);
INSERT INTO "judgements" VALUES(5,'sound_03','elements','Matched: nothing; missing: dog, growls, barks, growling, barking, 8 more; unsupported: background.',NULL,'ok','{"accuracy": 1.6666666666666665, "completeness": 0.0, "hallucination": 10.0}','2026-11-15T14:59:35.154+00:00',0,NULL,NULL,0.0,0.0,32);
INSERT INTO "judgements" VALUES(6,'sound_01','elements','Matched: nothing; missing: rain, thunder, rumble, falls, falling, 13 more; unsupported: gentle, folk, tune, picked, acoustic, 4 more.',NULL,'ok','{"accuracy": 1.0378927305556724, "completeness": 0.4116323734089289, "hallucination": 0.38461538461538547}','2026-11-15T14:59:35.439+00:00',0,NULL,NULL,0.0,0.0,32);
INSERT INTO "judgements" VALUES(6,'sound_02','elements','Matched: few; missing: footsteps, walk, door, creaks, slams, 14 more; unsupported: dog, growls, quietly, sharp, barks.',NULL,'ok','{"accuracy": 1.8795350139460916, "completeness": 0.937862026548631, "hallucination": 0.0}','2026-11-15T14:59:35.439+00:00',0,NULL,NULL,0.0,0.0,32);
INSERT INTO "judgements" VALUES(6,'sound_03','elements','Matched: silent, two; missing: dog, growls, barks, growling, barking, 5 more; unsupported: male, voice, speaks, falls, seconds, 2 more.',NULL,'ok','{"accuracy": 0.8768960476542511, "completeness": 0.7764048943174064, "hallucination": 1.1111111111111116}','2026-11-15T14:59:35.439+00:00',0,NULL,NULL,0.0,0.0,32);
INSERT INTO "judgements" VALUES(7,'sound_01','elements','Matched: rain, pours, hard, thunder, rolls; missing: falling, rumble, falls, rumbles, loud, 3 more; unsupported: cracks, slowly.',NULL,'ok','{"accuracy": 7.134304179085623, "completeness": 6.995106067196057, "hallucination": 8.148148148148149}','2026-11-15T14:59:35.560+00:00',0,NULL,NULL,0.0,0.0,32);
INSERT INTO "judgements" VALUES(7,'sound_02','elements','Matched: walks, floor, door, creaks, slams; missing: shut, person, room, hinge, hard, 5 more; unsupported: nothing.',NULL,'ok','{"accuracy": 9.372129566741709, "completeness": 8.134928403082776, "hallucination": 10.0}','2026-11-15T14:59:35.560+00:00',0,NULL,NULL,0.0,0.0,32);
INSERT INTO "judgements" VALUES(7,'sound_03','elements','Matched: dog, growls, barks, loudly; missing: several, few, low, quietly, sharp; unsupported: angry.',NULL,'ok','{"accuracy": 8.736182206644203, "completeness": 9.206444806044525, "hallucination": 10.0}','2026-11-15T14:59:35.560+00:00',0,NULL,NULL,0.0,0.0,32);
INSERT INTO "judgements" VALUES(9,'sound_02','elements','Matched: walks, floor, door, creaks, slams; missing: shut, person, room, hinge, hard, 5 more; unsupported: nothing.',NULL,'ok','{"accuracy": 9.65420244201537, "completeness": 8.134928403082776, "hallucination": 10.0}','2026-11-15T14:59:35.735+00:00',0,NULL,NULL,0.0,0.0,32);
INSERT INTO "judgements" VALUES(9,'sound_03','elements','Matched: dog, growls, barks, loudly; missing: several, few, low, quietly, sharp; unsupported: angry.',NULL,'ok','{"accuracy": 9.041176672492707, "completeness": 9.206444806044525, "hallucination": 10.0}','2026-11-15T14:59:35.735+00:00',0,NULL,NULL,0.0,0.0,32);
CREATE TABLE outcomes (
	run INTEGER NOT NULL, 
	sample TEXT NOT NULL, 
	text TEXT NOT NULL, 
	status VARCHAR(16) NOT NULL, 
	latency_s FLOAT NOT NULL, 
	input_tokens INTEGER, 
	output_tokens INTEGER, 
	audio_tokens INTEGER, 
	cost_usd FLOAT, 
	raw TEXT, 
	answered_at TEXT NOT NULL, 
	error TEXT, 
	withheld INTEGER, 
	attempts INTEGER NOT NULL, 
	cached BOOLEAN NOT NULL, 
	audio_sha256 VARCHAR(64), 
	audio_s FLOAT NOT NULL, 
	PRIMARY KEY (run, sample), 
	FOREIGN KEY(run, sample) REFERENCES run_samples (run, sample) ON DELETE CASCADE
);
INSERT INTO "outcomes" VALUES(1,'sound_01','First a steady hiss, perhaps rain or running water, continues, then a low rumble, perhaps thunder or something heavy passing, rolls and dies away.','ok',4.9595175720000952424e+00,NULL,NULL,NULL,0.0,NULL,'2026-11-15T14:59:11.857+00:00',NULL,NULL,1,0,'5984d7df6f4646e7dbfbd1fa562b075f8dab4fb62bd7d16269ca4653233ba508',10.0);
INSERT INTO "outcomes" VALUES(1,'sound_02','First regular dull thuds, like footsteps, are heard about 105 times a minute, then a rough noise, perhaps machinery or wind, continues, then a short thump is heard once.','ok',4.51222876899987568322e+00,NULL,NULL,NULL,0.0,NULL,'2026-11-15T14:59:11.365+00:00',NULL,NULL,1,0,'15359f1d87f1fc0fb9cb7c71c24441a12a1fa0cf3ed076264503bf8e882a5f79',8.0);
INSERT INTO "outcomes" VALUES(1,'sound_03','First a low, rough growl, perhaps an animal or a motor, is heard, then a short, harsh sound, like a bark or a cough, is heard again and again.','ok',6.71279515000151150161e-01,NULL,NULL,NULL,0.0,NULL,'2026-11-15T14:59:12.125+00:00',NULL,NULL,1,0,'288ebfa788674ae19a3b54f371453e7f9707bd4a11109299d2c0c3801cd98bea',6.5);
INSERT INTO "outcomes" VALUES(1,'sound_04','A dull noise, perhaps machinery or wind, continues throughout, and high-pitched chirps, like those of birds, are heard.','ok',6.64320746000157669187e-01,NULL,NULL,NULL,0.0,NULL,'2026-11-15T14:59:12.674+00:00',NULL,NULL,1,0,'24bc8aa839455e709ce945b8a447085aefa6cc58572707432ac657abc0f17972',9.0);
INSERT INTO "outcomes" VALUES(1,'sound_05','A throbbing noise, perhaps an engine or a helicopter, runs.','ok',6.91611928999918745831e-01,NULL,NULL,NULL,0.0,NULL,'2026-11-15T14:59:12.989+00:00',NULL,NULL,1,0,'f141fea918a2148b7a03a9841b9dab7b3b04791830bbdc6b6a9e209868802217',10.0);
INSERT INTO "outcomes" VALUES(2,'sound_01','Rain pours down hard, then thunder cracks and slowly rolls away.','ok',1.12713000135045149364e-04,NULL,NULL,NULL,0.0,NULL,'2026-11-15T14:59:13.878+00:00',NULL,3,1,0,NULL,0.0);
INSERT INTO "outcomes" VALUES(2,'sound_02','Someone walks across the floor, then a door creaks and slams.','ok',1.04935000081241014414e-04,NULL,NULL,NULL,0.0,NULL,'2026-11-15T14:59:13.886+00:00',NULL,1,1,0,NULL,0.0);
INSERT INTO "outcomes" VALUES(2,'sound_03','An angry dog growls, then barks loudly.','ok',1.0718399994402716402e-04,NULL,NULL,NULL,0.0,NULL,'2026-11-15T14:59:13.906+00:00',NULL,3,1,0,NULL,0.0);
INSERT INTO "outcomes" VALUES(2,'sound_04','Wind is blowing and a few birds are chirping.','ok',1.04927000165844219737e-04,NULL,NULL,NULL,0.0,NULL,'2026-11-15T14:59:13.923+00:00',NULL,1,1,0,NULL,0.0);
INSERT INTO "outcomes" VALUES(2,'sound_05','A car starts, the engine idles, then it revs up and drives away','ok',1.06304999917483655736e-04,NULL,NULL,NULL,0.0,NULL,'2026-11-15T14:59:13.934+00:00',NULL,4,1,0,NULL,0.0);
INSERT INTO "outcomes" VALUES(3,'sound_01','A sound is heard in the background.','ok',7.50679998873238218948e-05,NULL,NULL,NULL,0.0,NULL,'2026-11-15T14:59:23.813+00:00',NULL,NULL,1,0,NULL,0.0);
INSERT INTO "outcomes" VALUES(3,'sound_02','A sound is heard in the background.','ok',8.74580000527203083038e-05,NULL,NULL,NULL,0.0,NULL,'2026-11-15T14:59:23.829+00:00',NULL,NULL,1,0,NULL,0.0);
INSERT INTO "outcomes" VALUES(3,'sound_03','A sound is heard in the background.','ok',7.15569999556464608759e-05,NULL,NULL,NULL,0.0,NULL,'2026-11-15T14:59:23.845+00:00',NULL,NULL,1,0,NULL,0.0);
INSERT INTO "outcomes" VALUES(3,'sound_04','A sound is heard in the background.','ok',7.35430000986525556073e-05,NULL,NULL,NULL,0.0,NULL,'2026-11-15T14:59:23.861+00:00',NULL,NULL,1,0,NULL,0.0);
INSERT INTO "outcomes" VALUES(3,'sound_05','A sound is heard in the background.','ok',9.39080000534886494279e-05,NULL,NULL,NULL,0.0,NULL,'2026-11-15T14:59:23.877+00:00',NULL,NULL,1,0,NULL,0.0);
INSERT INTO "outcomes" VALUES(4,'sound_01','Rain pours down hard, then thunder cracks and slowly rolls away.','ok',1.15609999966181931086e-04,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:34.090+00:00',NULL,3,1,0,NULL,0.0);
INSERT INTO "outcomes" VALUES(4,'sound_02','Someone walks across the floor, then a door creaks and slams.','ok',1.02153000170801533386e-04,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:34.130+00:00',NULL,1,1,0,NULL,0.0);
INSERT INTO "outcomes" VALUES(4,'sound_03','An angry dog growls, then barks loudly.','ok',1.05666000081328093074e-04,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:34.161+00:00',NULL,3,1,0,NULL,0.0);
INSERT INTO "outcomes" VALUES(5,'sound_01','A sound is heard in the background.','ok',7.75870000779832480475e-05,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:34.990+00:00',NULL,NULL,1,0,NULL,0.0);
INSERT INTO "outcomes" VALUES(5,'sound_02','A sound is heard in the background.','ok',7.10070000877749407664e-05,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:35.008+00:00',NULL,NULL,1,0,NULL,0.0);
INSERT INTO "outcomes" VALUES(5,'sound_03','A sound is heard in the background.','ok',6.76099998599966e-05,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:35.026+00:00',NULL,NULL,1,0,NULL,0.0);
INSERT INTO "outcomes" VALUES(6,'sound_01','A gentle folk tune picked on an acoustic guitar in waltz time. It sounds warm and happy.','ok',1.18342999940068693832e-04,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:35.302+00:00',NULL,NULL,1,0,NULL,0.0);
INSERT INTO "outcomes" VALUES(6,'sound_02','A dog growls quietly before giving a few sharp barks','ok',1.17407000061575672589e-04,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:35.310+00:00',NULL,NULL,1,0,NULL,0.0);
INSERT INTO "outcomes" VALUES(6,'sound_03','A male voice speaks, falls silent for about two seconds and then speaks again about a forgotten phone.','ok',1.10325999912674888037e-04,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:35.318+00:00',NULL,NULL,1,0,NULL,0.0);
INSERT INTO "outcomes" VALUES(7,'sound_01','In this recording, the following can be heard. Rain pours down hard, then thunder cracks and slowly rolls away. That is what the recording contains from its beginning to its end.','ok',1.10752999944452312775e-04,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:35.512+00:00',NULL,3,1,0,NULL,0.0);
INSERT INTO "outcomes" VALUES(7,'sound_02','In this recording, the following can be heard. Someone walks across the floor, then a door creaks and slams. That is what the recording contains from its beginning to its end.','ok',1.0753599985946493689e-04,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:35.517+00:00',NULL,1,1,0,NULL,0.0);
INSERT INTO "outcomes" VALUES(7,'sound_03','In this recording, the following can be heard. An angry dog growls, then barks loudly. That is what the recording contains from its beginning to its end.','ok',9.85110000328859314322e-05,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:35.519+00:00',NULL,3,1,0,NULL,0.0);
INSERT INTO "outcomes" VALUES(8,'sound_01','','skipped',1.20459999834565678611e-04,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:35.618+00:00','cannot be said in this style',NULL,1,0,NULL,0.0);
INSERT INTO "outcomes" VALUES(8,'sound_02','','skipped',1.18079999992914963514e-04,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:35.638+00:00','cannot be said in this style',NULL,1,0,NULL,0.0);
INSERT INTO "outcomes" VALUES(8,'sound_03','','skipped',9.67539999692235141993e-05,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:35.640+00:00','cannot be said in this style',NULL,1,0,NULL,0.0);
INSERT INTO "outcomes" VALUES(9,'sound_01','','skipped',1.27664000046934233978e-04,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:35.710+00:00','cannot be said in this style',NULL,1,0,NULL,0.0);
INSERT INTO "outcomes" VALUES(9,'sound_02','Someone walks across floor, then door creaks and slams.','ok',1.13936999923680559732e-04,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:35.713+00:00',NULL,1,1,0,NULL,0.0);
INSERT INTO "outcomes" VALUES(9,'sound_03','angry dog growls, then barks loudly.','ok',1.08398000065790256485e-04,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:35.718+00:00',NULL,3,1,0,NULL,0.0);
INSERT INTO "outcomes" VALUES(10,'000_0/environment','A river and a violin steadily in the kitchen.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:42.249+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(10,'000_0/long','A whistle and a tractor clearly in the harbour.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:42.062+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(10,'000_0/music','music absent','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:42.224+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(10,'000_0/short','A crowd and a engine nearby in the street.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:42.091+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(10,'000_0/sound','sound absent','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:42.233+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(10,'000_0/speech','speech absent','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:42.178+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(10,'00A_0/environment','A river and a drum far-off in the yard.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:42.343+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(10,'00A_0/long','A whistle and a lorry twice in the station.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:42.254+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(10,'00A_0/music','music absent','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:42.309+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(10,'00A_0/short','A violin and a river slowly in the forest.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:42.277+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(10,'00A_0/sound','A piano and a lorry softly in the forest.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:42.321+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(10,'00A_0/speech','speech absent','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:42.291+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(10,'0M0_0/environment','A tractor and a piano slowly in the church.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:42.431+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(10,'0M0_0/long','A violin and a whistle slowly in the garage.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:42.361+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(10,'0M0_0/music','A violin and a dog loudly in the harbour.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:42.409+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(10,'0M0_0/short','A dog and a lorry clearly in the street.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:42.377+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(10,'0M0_0/sound','sound absent','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:42.417+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(10,'0M0_0/speech','speech absent','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:42.393+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(10,'0MA_0/environment','A choir and a dog steadily in the hall.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:42.529+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(10,'0MA_0/long','A engine and a tractor barely in the church.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:42.441+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(10,'0MA_0/music','A engine and a lorry loudly in the forest.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:42.489+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(10,'0MA_0/short','A choir and a lorry softly in the church.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:42.465+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(10,'0MA_0/sound','A drum and a choir loudly in the harbour.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:42.517+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(10,'0MA_0/speech','speech absent','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:42.477+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(10,'S00_0/environment','A crowd and a engine nearby in the hall.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:42.582+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(10,'S00_0/long','A dog and a lorry twice in the church.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:42.537+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(10,'S00_0/music','music absent','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:42.572+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(10,'S00_0/short','A river and a choir softly in the church.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:42.557+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(10,'S00_0/sound','sound absent','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:42.573+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(10,'S00_0/speech','A tractor and a kettle nearby in the harbour.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:42.559+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(10,'S0A_0/environment','A drum and a tractor wildly in the station.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:42.601+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(10,'S0A_0/long','A whistle and a drum slowly in the street.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:42.585+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(10,'S0A_0/music','music absent','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:42.592+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(10,'S0A_0/short','A crowd and a piano wildly in the cellar.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:42.586+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(10,'S0A_0/sound','A engine and a dog twice in the kitchen.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:42.598+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(10,'S0A_0/speech','A whistle and a piano softly in the kitchen.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:42.591+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(10,'SM0_0/environment','A tractor and a dog softly in the church.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:42.628+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(10,'SM0_0/long','A tractor and a whistle barely in the church.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:42.609+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(10,'SM0_0/music','A whistle and a tractor steadily in the street.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:42.621+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(10,'SM0_0/short','A kettle and a river slowly in the yard.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:42.613+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(10,'SM0_0/sound','sound absent','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:42.625+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(10,'SM0_0/speech','A violin and a kettle twice in the kitchen.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:42.616+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(10,'SM0_1/environment','A dog and a engine slowly in the church.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:42.652+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(10,'SM0_1/long','A drum and a whistle steadily in the garage.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:42.629+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(10,'SM0_1/music','A tractor and a crowd slowly in the harbour.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:42.647+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(10,'SM0_1/short','A violin and a whistle far-off in the station.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:42.634+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(10,'SM0_1/sound','sound absent','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:42.651+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(10,'SM0_1/speech','A drum and a crowd clearly in the street.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:42.636+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(10,'SM0_2/environment','A kettle and a piano barely in the street.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:42.665+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(10,'SM0_2/long','A dog and a violin nearby in the forest.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:42.653+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(10,'SM0_2/music','A kettle and a whistle loudly in the hall.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:42.663+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(10,'SM0_2/short','A drum and a river slowly in the station.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:42.659+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(10,'SM0_2/sound','sound absent','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:42.664+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(10,'SM0_2/speech','A dog and a engine clearly in the station.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:42.661+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(10,'SM0_3/environment','A kettle and a river clearly in the street.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:42.712+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(10,'SM0_3/long','A lorry and a violin loudly in the kitchen.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:42.666+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(10,'SM0_3/music','A violin and a piano nearby in the station.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:42.673+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(10,'SM0_3/short','A violin and a kettle wildly in the hall.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:42.667+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(10,'SM0_3/sound','sound absent','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:42.677+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(10,'SM0_3/speech','A tractor and a violin barely in the cellar.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:42.668+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(10,'SMA_0/environment','A drum and a engine clearly in the yard.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:42.738+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(10,'SMA_0/long','A whistle and a drum softly in the church.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:42.719+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(10,'SMA_0/music','A engine and a lorry barely in the harbour.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:42.734+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(10,'SMA_0/short','A lorry and a crowd far-off in the garage.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:42.723+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(10,'SMA_0/sound','A lorry and a whistle barely in the kitchen.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:42.737+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(10,'SMA_0/speech','A piano and a river softly in the yard.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:42.731+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(11,'000_0/environment','A dog barks loudly in the yard.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:45.197+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(11,'000_0/long','A dog barks loudly in the yard.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:45.097+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(11,'000_0/music','A dog barks loudly in the yard.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:45.138+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(11,'000_0/short','A dog barks loudly in the yard.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:45.113+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(11,'000_0/sound','A dog barks loudly in the yard.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:45.188+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(11,'000_0/speech','A dog barks loudly in the yard.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:45.121+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(11,'00A_0/environment','A dog barks loudly in the yard.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:45.345+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(11,'00A_0/long','A dog barks loudly in the yard.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:45.220+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(11,'00A_0/music','A dog barks loudly in the yard.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:45.320+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(11,'00A_0/short','A dog barks loudly in the yard.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:45.261+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(11,'00A_0/sound','A dog barks loudly in the yard.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:45.333+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(11,'00A_0/speech','A dog barks loudly in the yard.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:45.281+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(11,'0M0_0/environment','A dog barks loudly in the yard.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:45.449+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(11,'0M0_0/long','A dog barks loudly in the yard.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:45.369+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(11,'0M0_0/music','A dog barks loudly in the yard.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:45.421+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(11,'0M0_0/short','A dog barks loudly in the yard.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:45.381+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(11,'0M0_0/sound','A dog barks loudly in the yard.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:45.437+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(11,'0M0_0/speech','A dog barks loudly in the yard.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:45.399+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(11,'0MA_0/environment','A dog barks loudly in the yard.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:45.600+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(11,'0MA_0/long','A dog barks loudly in the yard.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:45.497+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(11,'0MA_0/music','A dog barks loudly in the yard.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:45.593+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(11,'0MA_0/short','A dog barks loudly in the yard.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:45.543+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(11,'0MA_0/sound','A dog barks loudly in the yard.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:45.594+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(11,'0MA_0/speech','A dog barks loudly in the yard.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:45.573+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(11,'S00_0/environment','A dog barks loudly in the yard.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:45.629+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(11,'S00_0/long','A dog barks loudly in the yard.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:45.601+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(11,'S00_0/music','A dog barks loudly in the yard.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:45.614+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(11,'S00_0/short','','failed',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:45.603+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(11,'S00_0/sound','A dog barks loudly in the yard.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:45.625+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(11,'S00_0/speech','A dog barks loudly in the yard.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:45.613+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(11,'S0A_0/environment','A dog barks loudly in the yard.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:45.657+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(11,'S0A_0/long','A dog barks loudly in the yard.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:45.633+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(11,'S0A_0/music','A dog barks loudly in the yard.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:45.650+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(11,'S0A_0/short','A dog barks loudly in the yard.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:45.635+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(11,'S0A_0/sound','A dog barks loudly in the yard.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:45.653+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(11,'S0A_0/speech','A dog barks loudly in the yard.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:45.643+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(11,'SM0_0/environment','A dog barks loudly in the yard.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:45.761+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(11,'SM0_0/long','A dog barks loudly in the yard.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:45.665+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(11,'SM0_0/music','A dog barks loudly in the yard.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:45.721+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(11,'SM0_0/short','A dog barks loudly in the yard.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:45.677+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(11,'SM0_0/sound','A dog barks loudly in the yard.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:45.745+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(11,'SM0_0/speech','A dog barks loudly in the yard.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:45.695+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(11,'SM0_1/environment','A dog barks loudly in the yard.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:45.873+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(11,'SM0_1/long','A dog barks loudly in the yard.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:45.775+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(11,'SM0_1/music','A dog barks loudly in the yard.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:45.844+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(11,'SM0_1/short','A dog barks loudly in the yard.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:45.797+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(11,'SM0_1/sound','A dog barks loudly in the yard.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:45.858+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(11,'SM0_1/speech','A dog barks loudly in the yard.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:45.821+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(11,'SM0_2/environment','A dog barks loudly in the yard.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:45.953+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(11,'SM0_2/long','A dog barks loudly in the yard.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:45.885+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(11,'SM0_2/music','A dog barks loudly in the yard.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:45.925+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(11,'SM0_2/short','A dog barks loudly in the yard.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:45.900+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(11,'SM0_2/sound','A dog barks loudly in the yard.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:45.939+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(11,'SM0_2/speech','A dog barks loudly in the yard.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:45.917+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(11,'SM0_3/environment','A dog barks loudly in the yard.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:46.075+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(11,'SM0_3/long','A dog barks loudly in the yard.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:45.968+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(11,'SM0_3/music','A dog barks loudly in the yard.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:46.033+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(11,'SM0_3/short','A dog barks loudly in the yard.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:45.996+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(11,'SM0_3/sound','A dog barks loudly in the yard.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:46.057+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(11,'SM0_3/speech','A dog barks loudly in the yard.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:46.010+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(11,'SMA_0/environment','A dog barks loudly in the yard.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:46.197+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(11,'SMA_0/long','A dog barks loudly in the yard.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:46.093+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(11,'SMA_0/music','A dog barks loudly in the yard.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:46.153+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(11,'SMA_0/short','A dog barks loudly in the yard.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:46.113+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(11,'SMA_0/sound','A dog barks loudly in the yard.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:46.169+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(11,'SMA_0/speech','A dog barks loudly in the yard.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:46.137+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(12,'000_0_00000000','A lorry and a river clearly in the forest.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:46.913+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(12,'000_0_00000001','A river and a crowd loudly in the church.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:46.933+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(12,'000_0_00000002','A kettle and a dog barely in the garage.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:46.953+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(12,'000_0_00000003','A lorry and a engine far-off in the yard.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:46.973+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(12,'000_0_00000004','A kettle and a tractor steadily in the cellar.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:46.993+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(12,'000_0_00000005','A crowd and a piano clearly in the harbour.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:47.009+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(12,'00A_0_00000000','A drum and a whistle clearly in the garage.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:47.037+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(12,'00A_0_00000001','A drum and a whistle slowly in the church.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:47.053+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(12,'00A_0_00000002','A choir and a engine loudly in the street.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:47.065+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(12,'00A_0_00000003','A piano and a drum steadily in the forest.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:47.081+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(12,'00A_0_00000004','A dog and a whistle slowly in the kitchen.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:47.097+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(12,'00A_0_00000005','A choir and a whistle steadily in the hall.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:47.117+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(12,'0M0_0_00000000','A engine and a whistle steadily in the station.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:47.133+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(12,'0M0_0_00000001','A lorry and a piano far-off in the station.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:47.153+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(12,'0M0_0_00000002','A engine and a whistle wildly in the station.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:47.173+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(12,'0M0_0_00000003','A lorry and a kettle slowly in the church.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:47.193+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(12,'0M0_0_00000004','A crowd and a violin twice in the kitchen.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:47.209+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(12,'0M0_0_00000005','A crowd and a piano softly in the street.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:47.210+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(12,'0MA_0_00000000','A engine and a lorry softly in the yard.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:47.221+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(12,'0MA_0_00000001','A violin and a dog nearby in the harbour.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:47.229+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(12,'0MA_0_00000002','A river and a tractor far-off in the kitchen.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:47.237+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(12,'0MA_0_00000003','A violin and a lorry nearby in the church.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:47.248+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(12,'0MA_0_00000004','A choir and a river barely in the garage.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:47.265+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(12,'0MA_0_00000005','A engine and a lorry twice in the church.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:47.273+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(12,'S00_0_00000000','A river and a whistle loudly in the kitchen.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:47.285+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(12,'S00_0_00000001','A lorry and a river wildly in the cellar.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:47.301+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(12,'S00_0_00000002','A river and a piano softly in the kitchen.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:47.320+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(12,'S00_0_00000003','A river and a choir loudly in the hall.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:47.327+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(12,'S00_0_00000004','A whistle and a violin slowly in the church.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:47.347+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(12,'S00_0_00000005','A whistle and a violin slowly in the kitchen.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:47.357+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(12,'S0A_0_00000000','A crowd and a river wildly in the station.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:47.365+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(12,'S0A_0_00000001','A crowd and a choir nearby in the station.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:47.389+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(12,'S0A_0_00000002','A dog and a engine slowly in the church.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:47.409+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(12,'S0A_0_00000003','A kettle and a tractor softly in the hall.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:47.433+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(12,'S0A_0_00000004','A tractor and a drum wildly in the kitchen.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:47.453+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(12,'S0A_0_00000005','A dog and a engine slowly in the church.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:47.457+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(12,'SM0_0_00000000','A whistle and a kettle nearby in the harbour.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:47.461+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(12,'SM0_0_00000001','A dog and a piano softly in the station.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:47.465+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(12,'SM0_0_00000002','A tractor and a crowd far-off in the station.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:47.469+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(12,'SM0_0_00000003','A crowd and a river steadily in the cellar.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:47.470+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(12,'SM0_0_00000004','A river and a engine barely in the station.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:47.471+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(12,'SM0_0_00000005','A dog and a violin wildly in the hall.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:47.477+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(12,'SMA_0_00000000','A dog and a kettle loudly in the hall.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:47.481+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(12,'SMA_0_00000001','A lorry and a violin wildly in the cellar.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:47.485+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(12,'SMA_0_00000002','A kettle and a whistle slowly in the garage.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:47.489+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(12,'SMA_0_00000003','A kettle and a drum loudly in the garage.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:47.490+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(12,'SMA_0_00000004','A engine and a violin far-off in the church.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:47.493+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(12,'SMA_0_00000005','A whistle and a choir steadily in the harbour.','ok',0.1,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:47.497+00:00',NULL,NULL,1,0,NULL,10.0);
INSERT INTO "outcomes" VALUES(13,'sound_01','1','ok',0.7,40,1,NULL,0.002,NULL,'2026-11-15T14:59:47.650+00:00',NULL,NULL,1,0,'abababababababababababababababababababababababababababababababab',5.0);
INSERT INTO "outcomes" VALUES(13,'sound_02','1','ok',0.7,40,1,NULL,0.002,NULL,'2026-11-15T14:59:47.665+00:00',NULL,NULL,1,0,'abababababababababababababababababababababababababababababababab',5.0);
INSERT INTO "outcomes" VALUES(13,'sound_03','','failed',0.7,NULL,NULL,NULL,NULL,NULL,'2026-11-15T14:59:47.681+00:00','the server is gone',NULL,1,0,NULL,5.0);
CREATE TABLE responses (
	"key" VARCHAR(64) NOT NULL, 
	model TEXT NOT NULL, 
	text TEXT NOT NULL, 
	status VARCHAR(16) NOT NULL, 
	latency_s FLOAT NOT NULL, 
	input_tokens INTEGER, 
	output_tokens INTEGER, 
	audio_tokens INTEGER, 
	cost_usd FLOAT, 
	raw TEXT, 
	answered_at TEXT NOT NULL, 
	PRIMARY KEY ("key")
);
INSERT INTO "responses" VALUES('48a4472c5acf00abc91ab53e64db323c593389dcc2a9a1619f4d7ff0345f86b7','listener','First regular dull thuds, like footsteps, are heard about 105 times a minute, then a rough noise, perhaps machinery or wind, continues, then a short thump is heard once.','ok',4.51222876899987568322e+00,NULL,NULL,NULL,0.0,NULL,'2026-11-15T14:59:11.366+00:00');
INSERT INTO "responses" VALUES('6d22b3cccfabebf2c34320ba8dda6b4df6f2fce389943e7bfbb639ff276694fb','listener','First a steady hiss, perhaps rain or running water, continues, then a low rumble, perhaps thunder or something heavy passing, rolls and dies away.','ok',4.9595175720000952424e+00,NULL,NULL,NULL,0.0,NULL,'2026-11-15T14:59:11.858+00:00');
INSERT INTO "responses" VALUES('7998148481d5520b8864d0c3b7a56824793899029c907ba29ca94e86179ac537','listener','First a low, rough growl, perhaps an animal or a motor, is heard, then a short, harsh sound, like a bark or a cough, is heard again and again.','ok',6.71279515000151150161e-01,NULL,NULL,NULL,0.0,NULL,'2026-11-15T14:59:12.126+00:00');
INSERT INTO "responses" VALUES('ab9d4519083132a14dcf3d85cef8c7173d2bcdccf17b4571917532892d66aa31','listener','A dull noise, perhaps machinery or wind, continues throughout, and high-pitched chirps, like those of birds, are heard.','ok',6.64320746000157669187e-01,NULL,NULL,NULL,0.0,NULL,'2026-11-15T14:59:12.674+00:00');
INSERT INTO "responses" VALUES('f18f94475c506426c35c10810114b978cbd045e1a270ad3dc433400ca351b1dc','listener','A throbbing noise, perhaps an engine or a helicopter, runs.','ok',6.91611928999918745831e-01,NULL,NULL,NULL,0.0,NULL,'2026-11-15T14:59:12.989+00:00');
INSERT INTO "responses" VALUES('c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c001','openai/gpt-4o-audio-preview','1','ok',0.7,40,1,NULL,0.002,NULL,'2026-11-15T14:59:47.650+00:00');
INSERT INTO "responses" VALUES('c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c002','openai/gpt-4o-audio-preview','1','ok',0.7,40,1,NULL,0.002,NULL,'2026-11-15T14:59:47.665+00:00');
CREATE TABLE run_samples (
	run INTEGER NOT NULL, 
	sample TEXT NOT NULL, 
	position INTEGER NOT NULL, 
	PRIMARY KEY (run, sample), 
	FOREIGN KEY(run) REFERENCES runs (id) ON DELETE CASCADE
)
 WITHOUT ROWID

;
INSERT INTO "run_samples" VALUES(1,'sound_01',0);
INSERT INTO "run_samples" VALUES(1,'sound_02',1);
INSERT INTO "run_samples" VALUES(1,'sound_03',2);
INSERT INTO "run_samples" VALUES(1,'sound_04',3);
INSERT INTO "run_samples" VALUES(1,'sound_05',4);
INSERT INTO "run_samples" VALUES(2,'sound_01',0);
INSERT INTO "run_samples" VALUES(2,'sound_02',1);
INSERT INTO "run_samples" VALUES(2,'sound_03',2);
INSERT INTO "run_samples" VALUES(2,'sound_04',3);
INSERT INTO "run_samples" VALUES(2,'sound_05',4);
INSERT INTO "run_samples" VALUES(3,'sound_01',0);
INSERT INTO "run_samples" VALUES(3,'sound_02',1);
INSERT INTO "run_samples" VALUES(3,'sound_03',2);
INSERT INTO "run_samples" VALUES(3,'sound_04',3);
INSERT INTO "run_samples" VALUES(3,'sound_05',4);
INSERT INTO "run_samples" VALUES(4,'sound_01',0);
INSERT INTO "run_samples" VALUES(4,'sound_02',1);
INSERT INTO "run_samples" VALUES(4,'sound_03',2);
INSERT INTO "run_samples" VALUES(5,'sound_01',0);
INSERT INTO "run_samples" VALUES(5,'sound_02',1);
INSERT INTO "run_samples" VALUES(5,'sound_03',2);
INSERT INTO "run_samples" VALUES(6,'sound_01',0);
INSERT INTO "run_samples" VALUES(6,'sound_02',1);
INSERT INTO "run_samples" VALUES(6,'sound_03',2);
INSERT INTO "run_samples" VALUES(7,'sound_01',0);
INSERT INTO "run_samples" VALUES(7,'sound_02',1);
INSERT INTO "run_samples" VALUES(7,'sound_03',2);
INSERT INTO "run_samples" VALUES(8,'sound_01',0);
INSERT INTO "run_samples" VALUES(8,'sound_02',1);
INSERT INTO "run_samples" VALUES(8,'sound_03',2);
INSERT INTO "run_samples" VALUES(9,'sound_01',0);
INSERT INTO "run_samples" VALUES(9,'sound_02',1);
INSERT INTO "run_samples" VALUES(9,'sound_03',2);
INSERT INTO "run_samples" VALUES(10,'000_0/environment',5);
INSERT INTO "run_samples" VALUES(10,'000_0/long',0);
INSERT INTO "run_samples" VALUES(10,'000_0/music',3);
INSERT INTO "run_samples" VALUES(10,'000_0/short',1);
INSERT INTO "run_samples" VALUES(10,'000_0/sound',4);
INSERT INTO "run_samples" VALUES(10,'000_0/speech',2);
INSERT INTO "run_samples" VALUES(10,'00A_0/environment',11);
INSERT INTO "run_samples" VALUES(10,'00A_0/long',6);
INSERT INTO "run_samples" VALUES(10,'00A_0/music',9);
INSERT INTO "run_samples" VALUES(10,'00A_0/short',7);
INSERT INTO "run_samples" VALUES(10,'00A_0/sound',10);
INSERT INTO "run_samples" VALUES(10,'00A_0/speech',8);
INSERT INTO "run_samples" VALUES(10,'0M0_0/environment',17);
INSERT INTO "run_samples" VALUES(10,'0M0_0/long',12);
INSERT INTO "run_samples" VALUES(10,'0M0_0/music',15);
INSERT INTO "run_samples" VALUES(10,'0M0_0/short',13);
INSERT INTO "run_samples" VALUES(10,'0M0_0/sound',16);
INSERT INTO "run_samples" VALUES(10,'0M0_0/speech',14);
INSERT INTO "run_samples" VALUES(10,'0MA_0/environment',23);
INSERT INTO "run_samples" VALUES(10,'0MA_0/long',18);
INSERT INTO "run_samples" VALUES(10,'0MA_0/music',21);
INSERT INTO "run_samples" VALUES(10,'0MA_0/short',19);
INSERT INTO "run_samples" VALUES(10,'0MA_0/sound',22);
INSERT INTO "run_samples" VALUES(10,'0MA_0/speech',20);
INSERT INTO "run_samples" VALUES(10,'S00_0/environment',29);
INSERT INTO "run_samples" VALUES(10,'S00_0/long',24);
INSERT INTO "run_samples" VALUES(10,'S00_0/music',27);
INSERT INTO "run_samples" VALUES(10,'S00_0/short',25);
INSERT INTO "run_samples" VALUES(10,'S00_0/sound',28);
INSERT INTO "run_samples" VALUES(10,'S00_0/speech',26);
INSERT INTO "run_samples" VALUES(10,'S0A_0/environment',35);
INSERT INTO "run_samples" VALUES(10,'S0A_0/long',30);
INSERT INTO "run_samples" VALUES(10,'S0A_0/music',33);
INSERT INTO "run_samples" VALUES(10,'S0A_0/short',31);
INSERT INTO "run_samples" VALUES(10,'S0A_0/sound',34);
INSERT INTO "run_samples" VALUES(10,'S0A_0/speech',32);
INSERT INTO "run_samples" VALUES(10,'SM0_0/environment',41);
INSERT INTO "run_samples" VALUES(10,'SM0_0/long',36);
INSERT INTO "run_samples" VALUES(10,'SM0_0/music',39);
INSERT INTO "run_samples" VALUES(10,'SM0_0/short',37);
INSERT INTO "run_samples" VALUES(10,'SM0_0/sound',40);
INSERT INTO "run_samples" VALUES(10,'SM0_0/speech',38);
INSERT INTO "run_samples" VALUES(10,'SM0_1/environment',47);
INSERT INTO "run_samples" VALUES(10,'SM0_1/long',42);
INSERT INTO "run_samples" VALUES(10,'SM0_1/music',45);
INSERT INTO "run_samples" VALUES(10,'SM0_1/short',43);
INSERT INTO "run_samples" VALUES(10,'SM0_1/sound',46);
INSERT INTO "run_samples" VALUES(10,'SM0_1/speech',44);
INSERT INTO "run_samples" VALUES(10,'SM0_2/environment',53);
INSERT INTO "run_samples" VALUES(10,'SM0_2/long',48);
INSERT INTO "run_samples" VALUES(10,'SM0_2/music',51);
INSERT INTO "run_samples" VALUES(10,'SM0_2/short',49);
INSERT INTO "run_samples" VALUES(10,'SM0_2/sound',52);
INSERT INTO "run_samples" VALUES(10,'SM0_2/speech',50);
INSERT INTO "run_samples" VALUES(10,'SM0_3/environment',59);
INSERT INTO "run_samples" VALUES(10,'SM0_3/long',54);
INSERT INTO "run_samples" VALUES(10,'SM0_3/music',57);
INSERT INTO "run_samples" VALUES(10,'SM0_3/short',55);
INSERT INTO "run_samples" VALUES(10,'SM0_3/sound',58);
INSERT INTO "run_samples" VALUES(10,'SM0_3/speech',56);
INSERT INTO "run_samples" VALUES(10,'SMA_0/environment',65);
INSERT INTO "run_samples" VALUES(10,'SMA_0/long',60);
INSERT INTO "run_samples" VALUES(10,'SMA_0/music',63);
INSERT INTO "run_samples" VALUES(10,'SMA_0/short',61);
INSERT INTO "run_samples" VALUES(10,'SMA_0/sound',64);
INSERT INTO "run_samples" VALUES(10,'SMA_0/speech',62);
INSERT INTO "run_samples" VALUES(11,'000_0/environment',5);
INSERT INTO "run_samples" VALUES(11,'000_0/long',0);
INSERT INTO "run_samples" VALUES(11,'000_0/music',3);
INSERT INTO "run_samples" VALUES(11,'000_0/short',1);
INSERT INTO "run_samples" VALUES(11,'000_0/sound',4);
INSERT INTO "run_samples" VALUES(11,'000_0/speech',2);
INSERT INTO "run_samples" VALUES(11,'00A_0/environment',11);
INSERT INTO "run_samples" VALUES(11,'00A_0/long',6);
INSERT INTO "run_samples" VALUES(11,'00A_0/music',9);
INSERT INTO "run_samples" VALUES(11,'00A_0/short',7);
INSERT INTO "run_samples" VALUES(11,'00A_0/sound',10);
INSERT INTO "run_samples" VALUES(11,'00A_0/speech',8);
INSERT INTO "run_samples" VALUES(11,'0M0_0/environment',17);
INSERT INTO "run_samples" VALUES(11,'0M0_0/long',12);
INSERT INTO "run_samples" VALUES(11,'0M0_0/music',15);
INSERT INTO "run_samples" VALUES(11,'0M0_0/short',13);
INSERT INTO "run_samples" VALUES(11,'0M0_0/sound',16);
INSERT INTO "run_samples" VALUES(11,'0M0_0/speech',14);
INSERT INTO "run_samples" VALUES(11,'0MA_0/environment',23);
INSERT INTO "run_samples" VALUES(11,'0MA_0/long',18);
INSERT INTO "run_samples" VALUES(11,'0MA_0/music',21);
INSERT INTO "run_samples" VALUES(11,'0MA_0/short',19);
INSERT INTO "run_samples" VALUES(11,'0MA_0/sound',22);
INSERT INTO "run_samples" VALUES(11,'0MA_0/speech',20);
INSERT INTO "run_samples" VALUES(11,'S00_0/environment',29);
INSERT INTO "run_samples" VALUES(11,'S00_0/long',24);
INSERT INTO "run_samples" VALUES(11,'S00_0/music',27);
INSERT INTO "run_samples" VALUES(11,'S00_0/short',25);
INSERT INTO "run_samples" VALUES(11,'S00_0/sound',28);
INSERT INTO "run_samples" VALUES(11,'S00_0/speech',26);
INSERT INTO "run_samples" VALUES(11,'S0A_0/environment',35);
INSERT INTO "run_samples" VALUES(11,'S0A_0/long',30);
INSERT INTO "run_samples" VALUES(11,'S0A_0/music',33);
INSERT INTO "run_samples" VALUES(11,'S0A_0/short',31);
INSERT INTO "run_samples" VALUES(11,'S0A_0/sound',34);
INSERT INTO "run_samples" VALUES(11,'S0A_0/speech',32);
INSERT INTO "run_samples" VALUES(11,'SM0_0/environment',41);
INSERT INTO "run_samples" VALUES(11,'SM0_0/long',36);
INSERT INTO "run_samples" VALUES(11,'SM0_0/music',39);
INSERT INTO "run_samples" VALUES(11,'SM0_0/short',37);
INSERT INTO "run_samples" VALUES(11,'SM0_0/sound',40);
INSERT INTO "run_samples" VALUES(11,'SM0_0/speech',38);
INSERT INTO "run_samples" VALUES(11,'SM0_1/environment',47);
INSERT INTO "run_samples" VALUES(11,'SM0_1/long',42);
INSERT INTO "run_samples" VALUES(11,'SM0_1/music',45);
INSERT INTO "run_samples" VALUES(11,'SM0_1/short',43);
INSERT INTO "run_samples" VALUES(11,'SM0_1/sound',46);
INSERT INTO "run_samples" VALUES(11,'SM0_1/speech',44);
INSERT INTO "run_samples" VALUES(11,'SM0_2/environment',53);
INSERT INTO "run_samples" VALUES(11,'SM0_2/long',48);
INSERT INTO "run_samples" VALUES(11,'SM0_2/music',51);
INSERT INTO "run_samples" VALUES(11,'SM0_2/short',49);
INSERT INTO "run_samples" VALUES(11,'SM0_2/sound',52);
INSERT INTO "run_samples" VALUES(11,'SM0_2/speech',50);
INSERT INTO "run_samples" VALUES(11,'SM0_3/environment',59);
INSERT INTO "run_samples" VALUES(11,'SM0_3/long',54);
INSERT INTO "run_samples" VALUES(11,'SM0_3/music',57);
INSERT INTO "run_samples" VALUES(11,'SM0_3/short',55);
INSERT INTO "run_samples" VALUES(11,'SM0_3/sound',58);
INSERT INTO "run_samples" VALUES(11,'SM0_3/speech',56);
INSERT INTO "run_samples" VALUES(11,'SMA_0/environment',65);
INSERT INTO "run_samples" VALUES(11,'SMA_0/long',60);
INSERT INTO "run_samples" VALUES(11,'SMA_0/music',63);
INSERT INTO "run_samples" VALUES(11,'SMA_0/short',61);
INSERT INTO "run_samples" VALUES(11,'SMA_0/sound',64);
INSERT INTO "run_samples" VALUES(11,'SMA_0/speech',62);
INSERT INTO "run_samples" VALUES(12,'000_0_00000000',0);
INSERT INTO "run_samples" VALUES(12,'000_0_00000001',1);
INSERT INTO "run_samples" VALUES(12,'000_0_00000002',2);
INSERT INTO "run_samples" VALUES(12,'000_0_00000003',3);
INSERT INTO "run_samples" VALUES(12,'000_0_00000004',4);
INSERT INTO "run_samples" VALUES(12,'000_0_00000005',5);
INSERT INTO "run_samples" VALUES(12,'00A_0_00000000',6);
INSERT INTO "run_samples" VALUES(12,'00A_0_00000001',7);
INSERT INTO "run_samples" VALUES(12,'00A_0_00000002',8);
INSERT INTO "run_samples" VALUES(12,'00A_0_00000003',9);
INSERT INTO "run_samples" VALUES(12,'00A_0_00000004',10);
INSERT INTO "run_samples" VALUES(12,'00A_0_00000005',11);
INSERT INTO "run_samples" VALUES(12,'0M0_0_00000000',12);
INSERT INTO "run_samples" VALUES(12,'0M0_0_00000001',13);
INSERT INTO "run_samples" VALUES(12,'0M0_0_00000002',14);
INSERT INTO "run_samples" VALUES(12,'0M0_0_00000003',15);
INSERT INTO "run_samples" VALUES(12,'0M0_0_00000004',16);
INSERT INTO "run_samples" VALUES(12,'0M0_0_00000005',17);
INSERT INTO "run_samples" VALUES(12,'0MA_0_00000000',18);
INSERT INTO "run_samples" VALUES(12,'0MA_0_00000001',19);
INSERT INTO "run_samples" VALUES(12,'0MA_0_00000002',20);
INSERT INTO "run_samples" VALUES(12,'0MA_0_00000003',21);
INSERT INTO "run_samples" VALUES(12,'0MA_0_00000004',22);
INSERT INTO "run_samples" VALUES(12,'0MA_0_00000005',23);
INSERT INTO "run_samples" VALUES(12,'S00_0_00000000',24);
INSERT INTO "run_samples" VALUES(12,'S00_0_00000001',25);
INSERT INTO "run_samples" VALUES(12,'S00_0_00000002',26);
INSERT INTO "run_samples" VALUES(12,'S00_0_00000003',27);
INSERT INTO "run_samples" VALUES(12,'S00_0_00000004',28);
INSERT INTO "run_samples" VALUES(12,'S00_0_00000005',29);
INSERT INTO "run_samples" VALUES(12,'S0A_0_00000000',30);
INSERT INTO "run_samples" VALUES(12,'S0A_0_00000001',31);
INSERT INTO "run_samples" VALUES(12,'S0A_0_00000002',32);
INSERT INTO "run_samples" VALUES(12,'S0A_0_00000003',33);
INSERT INTO "run_samples" VALUES(12,'S0A_0_00000004',34);
INSERT INTO "run_samples" VALUES(12,'S0A_0_00000005',35);
INSERT INTO "run_samples" VALUES(12,'SM0_0_00000000',36);
INSERT INTO "run_samples" VALUES(12,'SM0_0_00000001',37);
INSERT INTO "run_samples" VALUES(12,'SM0_0_00000002',38);
INSERT INTO "run_samples" VALUES(12,'SM0_0_00000003',39);
INSERT INTO "run_samples" VALUES(12,'SM0_0_00000004',40);
INSERT INTO "run_samples" VALUES(12,'SM0_0_00000005',41);
INSERT INTO "run_samples" VALUES(12,'SMA_0_00000000',42);
INSERT INTO "run_samples" VALUES(12,'SMA_0_00000001',43);
INSERT INTO "run_samples" VALUES(12,'SMA_0_00000002',44);
INSERT INTO "run_samples" VALUES(12,'SMA_0_00000003',45);
INSERT INTO "run_samples" VALUES(12,'SMA_0_00000004',46);
INSERT INTO "run_samples" VALUES(12,'SMA_0_00000005',47);
INSERT INTO "run_samples" VALUES(13,'sound_01',0);
INSERT INTO "run_samples" VALUES(13,'sound_02',1);
INSERT INTO "run_samples" VALUES(13,'sound_03',2);
INSERT INTO "run_samples" VALUES(14,'sound_01',0);
INSERT INTO "run_samples" VALUES(14,'sound_02',1);
INSERT INTO "run_samples" VALUES(14,'sound_03',2);
CREATE TABLE run_tags (
	run INTEGER NOT NULL, 
	tag TEXT NOT NULL, 
	PRIMARY KEY (run, tag), 
	FOREIGN KEY(run) REFERENCES runs (id) ON DELETE CASCADE
);
INSERT INTO "run_tags" VALUES(1,'paper');
CREATE TABLE runs (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	identity VARCHAR(64) NOT NULL, 
	generation INTEGER NOT NULL, 
	sample_count INTEGER NOT NULL, 
	kind VARCHAR(16) NOT NULL, 
	created_at TEXT NOT NULL, 
	name TEXT, 
	benchmark TEXT NOT NULL, 
	model TEXT NOT NULL, 
	contract TEXT NOT NULL, 
	made_by TEXT NOT NULL, 
	parameters JSON NOT NULL, 
	dataset VARCHAR(64) NOT NULL, 
	revision INTEGER NOT NULL, source JSON, 
	UNIQUE (identity, generation), 
	FOREIGN KEY(dataset) REFERENCES datasets (fingerprint)
);
INSERT INTO "runs" VALUES(1,'78900b9f8db7cfb2d3186ada264bd61a556c12062feae0f32705696d63f4e8d7',1,5,'asked','2026-11-15T14:59:06.514+00:00','the first','demo','listener','pcm16, 16000 Hz, mono, longest 120 s, then truncate','audiocapbench 0.1.0','{"version": "0.1.0"}','4abe9dfb570879556b56f1542f6d40d910a14d32c7cf18a799c3338fb57e72b4',0,NULL);
INSERT INTO "runs" VALUES(2,'c4ba764aaf7ad80a5457cb03e681dedc03b998fa18dfd515f0eb8ecd4d5ca20a',1,5,'asked','2026-11-15T14:59:13.842+00:00',NULL,'demo','control/right','no audio','audiocapbench 0.1.0','{"seed": 0}','4abe9dfb570879556b56f1542f6d40d910a14d32c7cf18a799c3338fb57e72b4',0,NULL);
INSERT INTO "runs" VALUES(3,'74ecc96b2f3e828b8c4830a9c272fd281c1d2d7898a6b15298909b756081b14d',1,5,'asked','2026-11-15T14:59:23.665+00:00',NULL,'demo','control/safe','no audio','audiocapbench 0.1.0','{}','4abe9dfb570879556b56f1542f6d40d910a14d32c7cf18a799c3338fb57e72b4',0,NULL);
INSERT INTO "runs" VALUES(4,'eb5e41a434c081ba5df60b1115d281479ff66ffd3144d41bfd389d43b90c82aa',1,3,'check','2026-11-15T14:59:33.942+00:00',NULL,'trial/check/demo','control/right','no audio','audiocapbench 0.1.0','{"seed": 0}','4abe9dfb570879556b56f1542f6d40d910a14d32c7cf18a799c3338fb57e72b4',0,NULL);
INSERT INTO "runs" VALUES(5,'079360f63e91ee8008e5325210c6f4ffb2a9935623f30cfc8ebf11d677a0c1ee',1,3,'check','2026-11-15T14:59:34.949+00:00',NULL,'trial/check/demo','control/safe','no audio','audiocapbench 0.1.0','{}','4abe9dfb570879556b56f1542f6d40d910a14d32c7cf18a799c3338fb57e72b4',0,NULL);
INSERT INTO "runs" VALUES(6,'f9d7d3f77ed61638b29a7c1ef178b92f347b479a531653644b7d234b30e411bd',1,3,'check','2026-11-15T14:59:35.230+00:00',NULL,'trial/check/demo','control/wrong','no audio','audiocapbench 0.1.0','{"seed": 0}','4abe9dfb570879556b56f1542f6d40d910a14d32c7cf18a799c3338fb57e72b4',0,NULL);
INSERT INTO "runs" VALUES(7,'03ac1f4c7162d600a1509ea0aeb646f57774737b5427b885a02f0e7c61b15ccb',1,3,'check','2026-11-15T14:59:35.487+00:00',NULL,'trial/check/demo','control/right+padded','no audio','audiocapbench 0.1.0','{"seed": 0, "style": "padded"}','4abe9dfb570879556b56f1542f6d40d910a14d32c7cf18a799c3338fb57e72b4',0,NULL);
INSERT INTO "runs" VALUES(8,'8e8ff8ae90cc0e22b4ca8667307d5efec54748243d00f610651b2a975946e3ac',1,3,'check','2026-11-15T14:59:35.585+00:00',NULL,'trial/check/demo','control/right+reordered','no audio','audiocapbench 0.1.0','{"seed": 0, "style": "reordered"}','4abe9dfb570879556b56f1542f6d40d910a14d32c7cf18a799c3338fb57e72b4',0,NULL);
INSERT INTO "runs" VALUES(9,'3fc8022b2489fd8201f52575cfde0a400ebbcedee01ac24b5ea4983f74e74321',1,3,'check','2026-11-15T14:59:35.683+00:00',NULL,'trial/check/demo','control/right+shortened','no audio','audiocapbench 0.1.0','{"seed": 0, "style": "shortened"}','4abe9dfb570879556b56f1542f6d40d910a14d32c7cf18a799c3338fb57e72b4',0,NULL);
INSERT INTO "runs" VALUES(10,'b99334a1b0840c6d83cdaa40bf78f4e6eb8453230a4b3107ddc491f81b7a2e91',1,66,'asked','2026-11-15T14:59:42.027+00:00',NULL,'mecat-caption','control/right','any','audiocapbench 0.1.0','{}','data of 66',0,NULL);
INSERT INTO "runs" VALUES(11,'a96f47426d1a14a71aefb55662662e498eb3f0e82a1205c699d17ff118e25cf7',1,66,'asked','2026-11-15T14:59:45.077+00:00',NULL,'mecat-caption','endpoint/small@http://h:8000/v1','any','audiocapbench 0.1.0','{}','data of 66',0,NULL);
INSERT INTO "runs" VALUES(12,'a49718b4da5b77f48435ca24a3bde1ebb1dde3eba7284ba2666d0477e8e41a82',1,48,'asked','2026-11-15T14:59:46.889+00:00',NULL,'mecat-qa','control/right','any','audiocapbench 0.1.0','{}','data of 48',0,NULL);
INSERT INTO "runs" VALUES(13,'0d24a3111bbbc4311789612caf09f39bff52959aa8b1cefd18f179f5f0765600',1,3,'trial','2026-11-15T14:59:47.638+00:00',NULL,'trial/pairwise/simple','openai/gpt-4o-audio-preview','wav','audiocapbench 0.1.0','{"temperature": 0.0}','4abe9dfb570879556b56f1542f6d40d910a14d32c7cf18a799c3338fb57e72b4',0,NULL);
INSERT INTO "runs" VALUES(14,'61bf4ddaf37eee13e51ce46edae4ff9458c1f3e4410d5f29aeba343d2910723b',1,3,'check','2026-11-15T14:59:47.698+00:00',NULL,'demo','control/right+padded','any','audiocapbench 0.1.0','{}','4abe9dfb570879556b56f1542f6d40d910a14d32c7cf18a799c3338fb57e72b4',0,NULL);
CREATE TABLE samples (
	dataset VARCHAR(64) NOT NULL, 
	id TEXT NOT NULL, 
	category TEXT NOT NULL, 
	instruction TEXT NOT NULL, 
	file_name TEXT NOT NULL, 
	"references" JSON NOT NULL, 
	details JSON NOT NULL, 
	position INTEGER NOT NULL, 
	rate INTEGER NOT NULL, 
	channels INTEGER NOT NULL, 
	duration_s FLOAT NOT NULL, 
	clip_sha256 VARCHAR(64) NOT NULL, 
	PRIMARY KEY (dataset, id), 
	FOREIGN KEY(dataset) REFERENCES datasets (fingerprint) ON DELETE CASCADE
);
INSERT INTO "samples" VALUES('4abe9dfb570879556b56f1542f6d40d910a14d32c7cf18a799c3338fb57e72b4','mixed_01','mixed','Describe what you hear in this audio.','clips/mixed_01_voice_over_guitar.ogg','["An acoustic guitar plays and then a woman says, \"Welcome to the morning show. Coming up next, the weather and three new songs.\"", "Guitar music plays in the background while a woman introduces a radio show.", "A female presenter welcomes listeners to the morning show over fingerpicked guitar music.", "Soft acoustic guitar, followed by a woman talking over the music about the weather and three new songs.", "A woman speaks like a radio host on top of a gentle guitar tune"]','{"source": "demo", "events": ["guitar music", "female speech"], "onsets_s": [0.0, 2.2], "transcript": "Welcome to the morning show. Coming up next, the weather and three new songs."}',26,24000,1,8.835042,'dc18623496442e34aa245f7c0fa46bb89686cbfb34cada02371f53e676619c41');
INSERT INTO "samples" VALUES('4abe9dfb570879556b56f1542f6d40d910a14d32c7cf18a799c3338fb57e72b4','mixed_02','mixed','What sounds can you identify in this audio clip?','clips/mixed_02_voice_in_rain.ogg','["Rain is falling and a man says, \"Sorry, I can hardly hear you. It is pouring with rain out here.\"", "A man speaks outside in the rain, then a car drives past.", "It is raining hard while a man says he can hardly hear, and a car passes by afterwards.", "A man is talking over the noise of pouring rain, followed by a vehicle passing on the road.", "Heavy rain with a male voice complaining that he can hardly hear, then a car going by"]','{"source": "demo", "events": ["rain", "male speech", "car passing"], "onsets_s": [0.0, 1.2, 5.61], "transcript": "Sorry, I can hardly hear you. It is pouring with rain out here."}',27,24000,1,8.20625,'5ac83735bb4f4b22ecf63c29f8fbbf51750af3f6f1fd0b4e5bd0acb0e2c029e8');
INSERT INTO "samples" VALUES('4abe9dfb570879556b56f1542f6d40d910a14d32c7cf18a799c3338fb57e72b4','music_01','music','Describe this music clip in detail, including genre, instrumentation, tempo, and mood.','clips/music_01_solo_piano.ogg','["A slow, sad solo piano piece in a minor key. The left hand plays broken chords under a simple melody.", "Melancholic piano music at a slow tempo. There is only the piano, it sounds gentle and lonely.", "This is an instrumental with a solo piano playing a slow emotional tune over arpeggios.", "A soft, sorrowful piano melody in a minor key, something for a sad scene in a film.", "Quiet classical style piano, slow and thoughtful, with rolling arpeggios in the bass and a mournful mood."]','{"source": "demo", "events": ["piano"], "onsets_s": [0.0], "tempo_bpm": 66.0, "key": "A minor", "instruments": ["piano"]}',10,32000,1,10.0,'501bd30be500974bcb5b09af3da06033e5392e20f18ff4221b7b2015f389ea97');
INSERT INTO "samples" VALUES('4abe9dfb570879556b56f1542f6d40d910a14d32c7cf18a799c3338fb57e72b4','music_02','music','Characterize this musical excerpt with rich detail; cover genre, instrumentation, and overall atmosphere.','clips/music_02_dance.ogg','["An energetic electronic dance track with a four on the floor kick drum, claps and hi-hats. A synth bass comes in, then bright synth chords.", "Fast house music. It starts with just a drum machine beat and builds up with a bouncy bass and synthesizer stabs.", "A club beat at around 128 bpm with a pounding kick, offbeat hi-hats, a synth bass line and chord stabs. It makes you want to dance.", "Upbeat electronic dance music with drums, bass and synth chords in a minor key, good for a nightclub or a workout.", "This techno-like instrumental has a steady kick drum and claps; bass and synthesizer are added one after the other."]','{"source": "demo", "events": ["drums", "synth bass", "synthesizer"], "onsets_s": [0.0, 2.11, 3.75], "tempo_bpm": 128.0, "key": "F minor", "instruments": ["drums", "synth bass", "synthesizer"]}',11,32000,1,9.375,'ab3d590fb197e18f786ffaaccaf6d9a3a0e5269d6a5fc99fe9d1f82fb0559895');
INSERT INTO "samples" VALUES('4abe9dfb570879556b56f1542f6d40d910a14d32c7cf18a799c3338fb57e72b4','music_03','music','Describe this music clip in detail, including genre, instrumentation, tempo, and mood.','clips/music_03_folk_waltz.ogg','["A gentle folk tune picked on an acoustic guitar in waltz time. It sounds warm and happy.", "Solo acoustic guitar playing a simple melody with a bass note and two strums in every bar. Medium tempo, folk style, cheerful.", "This instrumental features a plucked steel string guitar in 3/4, like a country waltz, with an easygoing mood.", "Someone plays a sweet folk melody in a major key on an acoustic guitar, with plucked chords underneath.", "A relaxed acoustic guitar waltz with fingerpicked strings, one could hear it by a campfire."]','{"source": "demo", "events": ["acoustic guitar"], "onsets_s": [0.0], "tempo_bpm": 108.0, "key": "G major", "instruments": ["acoustic guitar"]}',12,32000,1,10.0,'f0702a0dddc8a07d6137a687727f735e699781f60d4725ffd8f8b793b887218d');
INSERT INTO "samples" VALUES('4abe9dfb570879556b56f1542f6d40d910a14d32c7cf18a799c3338fb57e72b4','music_04','music','Characterize this musical excerpt with rich detail; cover genre, instrumentation, and overall atmosphere.','clips/music_04_ambient_flute.ogg','["Slow ambient music with a warm synth pad and a soft flute melody on top. It is calm and dreamy.", "A peaceful, spacious piece. Long synthesizer chords swell while a flute plays a few slow notes with lots of reverb.", "Relaxing new age music with no drums, just sustained synth pads and an airy flute, good for meditation.", "An ambient soundscape of soft pads in a major key. A flute joins in after a moment with a slow, floating tune.", "Calm meditation music with a synth pad and flute; very slow tempo and a soothing, dreamy atmosphere."]','{"source": "demo", "events": ["synth pad", "flute"], "onsets_s": [0.0, 2.0], "tempo_bpm": 60.0, "key": "D major", "instruments": ["synth pad", "flute"]}',13,32000,1,10.0,'153a12b22c4d8a2d55e5715e4f906d3bdedaa9b1c8245a737b04a025015f0dd1');
INSERT INTO "samples" VALUES('4abe9dfb570879556b56f1542f6d40d910a14d32c7cf18a799c3338fb57e72b4','music_05','music','Describe this music clip in detail, including genre, instrumentation, tempo, and mood.','clips/music_05_blues_shuffle.ogg','["A blues shuffle with a walking bass line, drums and a distorted electric guitar lick. The tempo is medium and the mood is laid back.", "This is an instrumental blues. Bass guitar and swinging drums lay down the groove and an overdriven guitar comes in with a riff.", "Bluesy jam with a ride cymbal, snare, walking bass and a gritty electric guitar solo, like a band in a bar.", "Mid-tempo blues rock with a shuffle beat; the bass walks up and down and the electric guitar answers with a dirty lick.", "A swinging groove of drums and bass guitar, joined by a distorted lead guitar playing blues notes."]','{"source": "demo", "events": ["drums", "bass guitar", "electric guitar"], "onsets_s": [0.0, 0.0, 2.5], "tempo_bpm": 96.0, "key": "E blues", "instruments": ["drums", "bass guitar", "electric guitar"]}',14,32000,1,10.0,'e5868a2c29697a094568a54572884e0e3b9ef7a0ac1a51af7fb67151105f6c93');
INSERT INTO "samples" VALUES('4abe9dfb570879556b56f1542f6d40d910a14d32c7cf18a799c3338fb57e72b4','music_06','music','Characterize this musical excerpt with rich detail; cover genre, instrumentation, and overall atmosphere.','clips/music_06_chiptune.ogg','["A fast and happy 8-bit chiptune with a square wave melody, a bouncing bass and simple electronic drums, like an old video game.", "Retro video game music. The beeping synth lead plays a quick cheerful melody in a major key.", "Upbeat chiptune at a fast tempo with 8-bit synthesizer sounds and a noisy drum beat. It sounds playful.", "This could be the theme of an 80s arcade game: bright square wave lead, jumping bass and clicky drums.", "Cheerful electronic game music with a bleepy 8-bit lead, synth bass and drums, quick and fun."]','{"source": "demo", "events": ["square wave synthesizer", "electronic drums"], "onsets_s": [0.0, 0.0], "tempo_bpm": 150.0, "key": "C major", "instruments": ["square wave synthesizer", "triangle wave bass", "electronic drums"]}',15,32000,1,8.0,'52eac5ff20f1ab631c6db9bbcb9f30249731cbf242fa1d6c6f2cbbc996ea3afb');
INSERT INTO "samples" VALUES('4abe9dfb570879556b56f1542f6d40d910a14d32c7cf18a799c3338fb57e72b4','music_07','music','Describe this music clip in detail, including genre, instrumentation, tempo, and mood.','clips/music_07_church_organ.ogg','["A solemn church organ plays a slow chorale in a minor key with long reverb.", "Slow, serious organ music as you would hear in a cathedral. The chords are full and sustained.", "This is a pipe organ playing a hymn. The tempo is slow and the mood is solemn and religious.", "Majestic pipe organ chords in a big echoing church, sad and dramatic.", "A classical organ piece with heavy sustained chords in a minor key, something for a funeral or a mass."]','{"source": "demo", "events": ["church organ"], "onsets_s": [0.0], "tempo_bpm": 72.0, "key": "D minor", "instruments": ["church organ"]}',16,32000,1,10.0,'305dc723db50a2e8accee358c96558870543911f26d71e457a7b855c80d0f81c');
INSERT INTO "samples" VALUES('4abe9dfb570879556b56f1542f6d40d910a14d32c7cf18a799c3338fb57e72b4','music_08','music','Characterize this musical excerpt with rich detail; cover genre, instrumentation, and overall atmosphere.','clips/music_08_music_box.ogg','["A music box plays a sweet, simple lullaby. It is gentle and a little nostalgic.", "The tinkling melody of a music box in waltz time, soft and childlike.", "A delicate instrumental lullaby with high bell-like notes from a music box, good for putting a baby to sleep.", "Slow, innocent tune in a major key played on a music box; it sounds like a toy or a jewellery box.", "A music box tinkles a calm and dreamy waltz with bright, chiming notes."]','{"source": "demo", "events": ["music box"], "onsets_s": [0.0], "tempo_bpm": 90.0, "key": "F major", "instruments": ["music box"]}',17,32000,1,10.0,'5bfe9164a61a797df95e4446307b2e3cabd45aadb24dabe0d576c50083979c28');
INSERT INTO "samples" VALUES('4abe9dfb570879556b56f1542f6d40d910a14d32c7cf18a799c3338fb57e72b4','silence_01','silence','Describe what you hear in this audio.','clips/silence_01_digital.ogg','["Silence.", "There is nothing to hear in this recording.", "Complete silence, no sound at all.", "The audio is silent from beginning to end.", "No sound can be heard."]','{"source": "demo", "events": ["silence"], "onsets_s": [0.0]}',28,16000,1,5.0,'69bd1f678e3f08099cda153e58f3efe0097230b943dc3e4c761dcdc859f2af5f');
INSERT INTO "samples" VALUES('4abe9dfb570879556b56f1542f6d40d910a14d32c7cf18a799c3338fb57e72b4','silence_02','silence','What sounds can you identify in this audio clip?','clips/silence_02_noise_floor.ogg','["Near silence with a very faint hiss.", "Almost complete silence, only a barely audible hiss.", "A quiet, empty recording with a little background noise.", "Nothing happens, there is just very faint static in the background.", "Silence apart from a soft hiss that can hardly be heard."]','{"source": "demo", "events": ["faint hiss"], "onsets_s": [0.0]}',29,16000,1,6.0,'948b6a7c1bd6abba49118c193c5e18b4faf41029b97812bcfb74de85bd899a60');
INSERT INTO "samples" VALUES('4abe9dfb570879556b56f1542f6d40d910a14d32c7cf18a799c3338fb57e72b4','sound_01','sound','Describe what you hear in this audio.','clips/sound_01_rain_thunder.ogg','["Rain falls and then thunder rumbles in the distance.", "Steady rain falling, followed by a long roll of thunder.", "Heavy rain is falling and thunder rumbles.", "Rain pours down hard, then thunder cracks and slowly rolls away.", "A rain storm with a loud rumble of thunder towards the end"]','{"source": "demo", "events": ["rain", "thunder"], "onsets_s": [0.0, 5.4]}',0,32000,1,10.0,'3e080eebe4ed58558f3b579d466edf33615475b84aa89ba656a2738b0db47547');
INSERT INTO "samples" VALUES('4abe9dfb570879556b56f1542f6d40d910a14d32c7cf18a799c3338fb57e72b4','sound_02','sound','What sounds can you identify in this audio clip?','clips/sound_02_footsteps_door.ogg','["Footsteps walk across a hard floor, a door creaks open and then slams shut.", "Someone walks across the floor, then a door creaks and slams.", "A person walks a few steps, followed by a squeaking door that slams shut.", "Footsteps in an echoing room, a creaking hinge, then a heavy door slams", "Several footsteps are heard before a door creaks slowly and bangs shut."]','{"source": "demo", "events": ["footsteps", "door creaking", "door slam"], "onsets_s": [0.3, 4.1, 6.3]}',1,24000,1,8.0,'27c3cc8df11bd738355d4dcca54e038b110466b337733ed5403f518081fc2728');
INSERT INTO "samples" VALUES('4abe9dfb570879556b56f1542f6d40d910a14d32c7cf18a799c3338fb57e72b4','sound_03','sound','Describe what you hear in this audio.','clips/sound_03_dog_growl_barks.ogg','["A dog growls and then barks several times.", "A dog is growling and then starts barking.", "Low growling followed by several loud barks from a dog.", "An angry dog growls, then barks loudly.", "A dog growls quietly before giving a few sharp barks"]','{"source": "demo", "events": ["dog growl", "dog bark"], "onsets_s": [0.2, 2.8]}',2,24000,1,6.5,'f835df3bff069fad90dbf020538e7778418ff8b52127337b64ba2d79cb1c1616');
INSERT INTO "samples" VALUES('4abe9dfb570879556b56f1542f6d40d910a14d32c7cf18a799c3338fb57e72b4','sound_04','sound','What sounds can you identify in this audio clip?','clips/sound_04_birds_wind.ogg','["Birds chirp while the wind blows.", "Wind is blowing and a few birds are chirping.", "Birds chirping back and forth outdoors on a windy day.", "A bird chirps and another bird answers with a warble as the wind blows.", "The wind blows softly in the background as birds chirp and tweet"]','{"source": "demo", "events": ["wind", "birds chirping"], "onsets_s": [0.0, 1.2]}',3,32000,1,9.0,'a19f6a71ace8aa4bd32f01c769505a1bece277c46d6360ae612a642a72d380d3');
INSERT INTO "samples" VALUES('4abe9dfb570879556b56f1542f6d40d910a14d32c7cf18a799c3338fb57e72b4','sound_05','sound','Describe what you hear in this audio.','clips/sound_05_car_drives_off.ogg','["A car engine starts up, idles and then the car drives away.", "Someone starts a car, the engine idles for a while and the car drives off.", "An engine cranks and starts, idles, then revs and fades into the distance.", "A vehicle engine is started and left idling before it accelerates away.", "A car starts, the engine idles, then it revs up and drives away"]','{"source": "demo", "events": ["car starter", "engine idling", "car driving away"], "onsets_s": [0.3, 1.8, 5.4]}',4,24000,1,10.0,'c753b3b3c55b35c81f66b1b6aa81d146f19670f165635151b291f2d1e9ecb2e8');
INSERT INTO "samples" VALUES('4abe9dfb570879556b56f1542f6d40d910a14d32c7cf18a799c3338fb57e72b4','sound_06','sound','What sounds can you identify in this audio clip?','clips/sound_06_sea_gulls.ogg','["Waves crash onto the shore and seagulls cry.", "Ocean waves crash on the beach while a few seagulls call.", "Ocean waves wash up on a beach, with seagulls squawking in the background.", "Waves are breaking on the shore and later a seagull cries several times.", "Large waves crash on a beach as seagulls squawk overhead"]','{"source": "demo", "events": ["sea waves", "seagulls"], "onsets_s": [0.0, 5.3]}',5,32000,1,10.0,'8f37358c4d6d22cb60eef02f65d9daac7485d6400e71a05e3264ba5cd11843de');
INSERT INTO "samples" VALUES('4abe9dfb570879556b56f1542f6d40d910a14d32c7cf18a799c3338fb57e72b4','sound_07','sound','Describe what you hear in this audio.','clips/sound_07_telephone.ogg','["An old telephone rings twice before somebody picks it up.", "A telephone is ringing, it stops and rings again until someone picks it up.", "A phone rings, pauses, rings again and is then picked up with a clatter.", "The bell of an old telephone rings and is cut off when the receiver is lifted.", "An old phone rings two times and then there is a click as someone lifts the receiver"]','{"source": "demo", "events": ["telephone ringing", "handset picked up"], "onsets_s": [0.3, 5.35]}',6,32000,1,7.0,'63d4edafc6162aad2e9157c3b382fdcb90904e56515ec004945f67205154f15d');
INSERT INTO "samples" VALUES('4abe9dfb570879556b56f1542f6d40d910a14d32c7cf18a799c3338fb57e72b4','sound_08','sound','What sounds can you identify in this audio clip?','clips/sound_08_clock_alarm.ogg','["A clock ticks steadily and then its alarm bell starts to ring.", "The ticking of a clock is interrupted by a loud ringing alarm.", "A clock is ticking until the alarm goes off and a bell rings quickly.", "Tick tock of an alarm clock, followed by its high pitched bell.", "An alarm clock ticks for a few seconds before the alarm rings loudly"]','{"source": "demo", "events": ["clock ticking", "alarm bell"], "onsets_s": [0.25, 4.7]}',7,32000,1,8.0,'55a2efd6f61917cd912ad330ebc325a5ba2d86a17de663924d40bd4f9a62602a');
INSERT INTO "samples" VALUES('4abe9dfb570879556b56f1542f6d40d910a14d32c7cf18a799c3338fb57e72b4','sound_09','sound','Describe what you hear in this audio.','clips/sound_09_water_drip_pour.ogg','["Water drips slowly and is then poured into a container.", "Water dripping one drop at a time, then water pours into a glass.", "A tap drips several times before water pours and fills a container.", "Water is dripping with an echo, followed by water pouring into a cup.", "Slow dripping, then somebody pours water into a container until it fills up"]','{"source": "demo", "events": ["water dripping", "water pouring"], "onsets_s": [0.4, 4.2]}',8,32000,1,8.5,'193bde468b8d4d2bee31c8feb345fddb2c0a2b0609f1ff2c57844ac65eb71d79');
INSERT INTO "samples" VALUES('4abe9dfb570879556b56f1542f6d40d910a14d32c7cf18a799c3338fb57e72b4','sound_10','sound','What sounds can you identify in this audio clip?','clips/sound_10_siren_passing.ogg','["A siren wails as an emergency vehicle approaches, passes and drives away.", "An emergency vehicle with its siren on gets closer, passes by and fades into the distance.", "The siren of a police car grows louder and then softer as it passes.", "An emergency vehicle passes by quickly with its siren blaring.", "A loud siren approaches, a vehicle passes by, and the siren fades away with a lower pitch"]','{"source": "demo", "events": ["siren approaching", "vehicle passing"], "onsets_s": [0.0, 4.0]}',9,24000,1,9.0,'7fb582c0bb6f3424c2fa3f23ff3bbcc2d2f460c78e89b1ebd26c5d8666b35069');
INSERT INTO "samples" VALUES('4abe9dfb570879556b56f1542f6d40d910a14d32c7cf18a799c3338fb57e72b4','speech_01','speech','Describe the speaker and what they are saying, including their tone, emotion, and speaking style.','clips/speech_01_library.ogg','["A man says, \"Good morning, and thank you for calling the city library. We open at nine and close at six.\"", "A man with a calm, synthetic voice greets a caller and gives the opening hours of the city library.", "A male speaker thanks someone for calling the library and says it opens at nine and closes at six, in a neutral tone.", "An automated male voice says good morning and tells the library''s opening times.", "A man speaks in a clear, polite way, like a recorded message from the city library"]','{"source": "demo", "events": ["male speech"], "onsets_s": [0.3], "transcript": "Good morning, and thank you for calling the city library. We open at nine and close at six."}',18,16000,1,6.4735,'c0441326e701d6968a6dc169282279116505b3f408ee271e7ecc4eea7b92f473');
INSERT INTO "samples" VALUES('4abe9dfb570879556b56f1542f6d40d910a14d32c7cf18a799c3338fb57e72b4','speech_02','speech','Describe this speech audio, including the speaker’s characteristics and what is being said.','clips/speech_02_station.ogg','["A woman announces that the train to Bristol will leave from platform four in ten minutes.", "\"The train to Bristol will leave from platform four in ten minutes,\" a woman says in a British accent.", "A female voice makes a train announcement in a clear and formal tone.", "A computerised woman''s voice with a British accent says from which platform the Bristol train leaves.", "A woman is speaking evenly, telling passengers that the train to Bristol leaves platform four in ten minutes"]','{"source": "demo", "events": ["female speech"], "onsets_s": [0.3], "transcript": "The train to Bristol will leave from platform four in ten minutes."}',19,16000,1,4.450938,'7150b7b0742a7e5309ec35eae8c4d0b18c6776d60c5325feb3f9c82da800f8dc');
INSERT INTO "samples" VALUES('4abe9dfb570879556b56f1542f6d40d910a14d32c7cf18a799c3338fb57e72b4','speech_03','speech','Describe the speaker and what they are saying, including their tone, emotion, and speaking style.','clips/speech_03_victory.ogg','["An excited woman says quickly, \"We won! I can''t believe it, we actually won the whole tournament!\"", "A woman speaks fast in a high pitched voice, thrilled that they won the tournament.", "A female speaker exclaims that they won and that she can''t believe it.", "A high, robotic female voice talks very fast about winning the whole tournament, sounding excited.", "A woman is overjoyed and tells someone that they actually won the tournament"]','{"source": "demo", "events": ["female speech"], "onsets_s": [0.3], "transcript": "We won! I can''t believe it, we actually won the whole tournament!"}',20,16000,1,4.017375,'a155869ffed5fa4b35578012bbc3cee00554ddd7fdb9db39b39508da2ab88566');
INSERT INTO "samples" VALUES('4abe9dfb570879556b56f1542f6d40d910a14d32c7cf18a799c3338fb57e72b4','speech_04','speech','Describe this speech audio, including the speaker’s characteristics and what is being said.','clips/speech_04_calming.ogg','["A man with a deep voice says slowly, \"Take a deep breath, close your eyes, and let your shoulders drop.\"", "A low male voice slowly tells the listener to take a deep breath and close their eyes.", "A man speaks very slowly and calmly, as in a guided meditation, asking you to breathe and let your shoulders drop.", "A deep, slow, synthetic male voice gives relaxation instructions.", "A man calmly says to take a deep breath, close your eyes and relax the shoulders, with pauses between the phrases"]','{"source": "demo", "events": ["male speech"], "onsets_s": [0.3], "transcript": "Take a deep breath, close your eyes, and let your shoulders drop."}',21,16000,1,6.821625,'49eae4867a0e99f1f49249978b1e7f9855dbf550902c1a8e18f10c75248ffca1');
INSERT INTO "samples" VALUES('4abe9dfb570879556b56f1542f6d40d910a14d32c7cf18a799c3338fb57e72b4','speech_05','speech','Describe the speaker and what they are saying, including their tone, emotion, and speaking style.','clips/speech_05_whisper.ogg','["Someone whispers, \"Be very quiet, the baby has only just fallen asleep.\"", "A person is whispering that the baby has only just fallen asleep.", "A whispering voice asks to be very quiet because the baby is asleep.", "A hushed, breathy whisper tells somebody to be quiet for the sleeping baby.", "A person speaks in a whisper about a baby that has just fallen asleep"]','{"source": "demo", "events": ["whispered speech"], "onsets_s": [0.3], "transcript": "Be very quiet, the baby has only just fallen asleep."}',22,16000,1,4.428063,'d27c0a70ae4f8c528d20f0bbb5d17347d68ff19478375ff528e62d8cd7f720aa');
INSERT INTO "samples" VALUES('4abe9dfb570879556b56f1542f6d40d910a14d32c7cf18a799c3338fb57e72b4','speech_06','speech','Describe this speech audio, including the speaker’s characteristics and what is being said.','clips/speech_06_pause.ogg','["A man says, \"I was going to call you last night,\" pauses, and goes on, \"But I left my phone on the kitchen table.\"", "A man with a Scottish accent explains that he was going to call, then after a long pause says he left his phone on the kitchen table.", "A male voice speaks, falls silent for about two seconds and then speaks again about a forgotten phone.", "A male speaker says in a flat tone that he meant to call last night but left his phone on the table, with a pause in the middle.", "A robotic man''s voice talks about not calling last night; there is a pause before the excuse"]','{"source": "demo", "events": ["male speech"], "onsets_s": [0.3], "transcript": "I was going to call you last night. But I left my phone on the kitchen table."}',23,16000,1,7.040687,'84ba14ea359c222b0d4401c42e56223941dddf86e9d3316a1fc24efedacee10d');
INSERT INTO "samples" VALUES('4abe9dfb570879556b56f1542f6d40d910a14d32c7cf18a799c3338fb57e72b4','speech_07','speech','Describe the speaker and what they are saying, including their tone, emotion, and speaking style.','clips/speech_07_memory.ogg','["An old woman says, \"When I was a girl, this whole street was nothing but apple trees.\"", "An elderly woman remembers that the whole street was apple trees when she was a girl.", "A woman talks slowly about her childhood, when the street was nothing but apple trees.", "An older female voice recalls the apple trees that used to be on this street, sounding nostalgic.", "A synthetic elderly voice says this street was nothing but apple trees when she was young"]','{"source": "demo", "events": ["female speech"], "onsets_s": [0.3], "transcript": "When I was a girl, this whole street was nothing but apple trees."}',24,16000,1,5.495438,'a4d4012b370cfee7386abcf4a140b10f083aecaa6f748b69ab47820d48752833');
INSERT INTO "samples" VALUES('4abe9dfb570879556b56f1542f6d40d910a14d32c7cf18a799c3338fb57e72b4','speech_08','speech','Describe this speech audio, including the speaker’s characteristics and what is being said.','clips/speech_08_dialogue.ogg','["A woman asks, \"Did you remember to feed the cat?\" and a man answers, \"Yes, twice, and she is still hungry.\"", "A woman asks a man if he fed the cat and he says yes, twice.", "A conversation between a woman and a man about feeding a cat that is still hungry.", "A female voice asks a question about feeding the cat, then a male voice replies that the cat is still hungry.", "Two computer voices talk, first a woman and then a man, about whether the cat has been fed"]','{"source": "demo", "events": ["female speech", "male speech"], "onsets_s": [0.3, 2.58], "transcript": "Did you remember to feed the cat? Yes, twice, and she is still hungry."}',25,16000,1,5.585063,'420c7b32748d97d1f48be44b8a8a7560e33e540dbd3b5fb8e2a014989992581a');
INSERT INTO "samples" VALUES('data of 48','000_0_00000000','direct_perception','Listen.','0.flac','["A lorry and a river clearly in the forest."]','{"clip": "000_0", "domain": "000", "difficulty": "basic"}',0,16000,1,10.0,'0000000000000000000000000000000000000000000000000000000000000000');
INSERT INTO "samples" VALUES('data of 48','000_0_00000001','sound_characteristics','Listen.','1.flac','["A river and a crowd loudly in the church."]','{"clip": "000_0", "domain": "000", "difficulty": "basic"}',1,16000,1,10.0,'0000000000000000000000000000000000000000000000000000000000000001');
INSERT INTO "samples" VALUES('data of 48','000_0_00000002','quality_assessment','Listen.','2.flac','["A kettle and a dog barely in the garage."]','{"clip": "000_0", "domain": "000", "difficulty": "basic"}',2,16000,1,10.0,'0000000000000000000000000000000000000000000000000000000000000002');
INSERT INTO "samples" VALUES('data of 48','000_0_00000003','environment_reasoning','Listen.','3.flac','["A lorry and a engine far-off in the yard."]','{"clip": "000_0", "domain": "000", "difficulty": "basic"}',3,16000,1,10.0,'0000000000000000000000000000000000000000000000000000000000000003');
INSERT INTO "samples" VALUES('data of 48','000_0_00000004','inference_judgement','Listen.','4.flac','["A kettle and a tractor steadily in the cellar."]','{"clip": "000_0", "domain": "000", "difficulty": "basic"}',4,16000,1,10.0,'0000000000000000000000000000000000000000000000000000000000000004');
INSERT INTO "samples" VALUES('data of 48','000_0_00000005','application_context','Listen.','5.flac','["A crowd and a piano clearly in the harbour."]','{"clip": "000_0", "domain": "000", "difficulty": "basic"}',5,16000,1,10.0,'0000000000000000000000000000000000000000000000000000000000000005');
INSERT INTO "samples" VALUES('data of 48','00A_0_00000000','direct_perception','Listen.','6.flac','["A drum and a whistle clearly in the garage."]','{"clip": "00A_0", "domain": "00A", "difficulty": "basic"}',6,16000,1,10.0,'0000000000000000000000000000000000000000000000000000000000000006');
INSERT INTO "samples" VALUES('data of 48','00A_0_00000001','sound_characteristics','Listen.','7.flac','["A drum and a whistle slowly in the church."]','{"clip": "00A_0", "domain": "00A", "difficulty": "basic"}',7,16000,1,10.0,'0000000000000000000000000000000000000000000000000000000000000007');
INSERT INTO "samples" VALUES('data of 48','00A_0_00000002','quality_assessment','Listen.','8.flac','["A choir and a engine loudly in the street."]','{"clip": "00A_0", "domain": "00A", "difficulty": "basic"}',8,16000,1,10.0,'0000000000000000000000000000000000000000000000000000000000000008');
INSERT INTO "samples" VALUES('data of 48','00A_0_00000003','environment_reasoning','Listen.','9.flac','["A piano and a drum steadily in the forest."]','{"clip": "00A_0", "domain": "00A", "difficulty": "basic"}',9,16000,1,10.0,'0000000000000000000000000000000000000000000000000000000000000009');
INSERT INTO "samples" VALUES('data of 48','00A_0_00000004','inference_judgement','Listen.','10.flac','["A dog and a whistle slowly in the kitchen."]','{"clip": "00A_0", "domain": "00A", "difficulty": "basic"}',10,16000,1,10.0,'000000000000000000000000000000000000000000000000000000000000000a');
INSERT INTO "samples" VALUES('data of 48','00A_0_00000005','application_context','Listen.','11.flac','["A choir and a whistle steadily in the hall."]','{"clip": "00A_0", "domain": "00A", "difficulty": "basic"}',11,16000,1,10.0,'000000000000000000000000000000000000000000000000000000000000000b');
INSERT INTO "samples" VALUES('data of 48','0M0_0_00000000','direct_perception','Listen.','12.flac','["A engine and a whistle steadily in the station."]','{"clip": "0M0_0", "domain": "0M0", "difficulty": "basic"}',12,16000,1,10.0,'000000000000000000000000000000000000000000000000000000000000000c');
INSERT INTO "samples" VALUES('data of 48','0M0_0_00000001','sound_characteristics','Listen.','13.flac','["A lorry and a piano far-off in the station."]','{"clip": "0M0_0", "domain": "0M0", "difficulty": "basic"}',13,16000,1,10.0,'000000000000000000000000000000000000000000000000000000000000000d');
INSERT INTO "samples" VALUES('data of 48','0M0_0_00000002','quality_assessment','Listen.','14.flac','["A engine and a whistle wildly in the station."]','{"clip": "0M0_0", "domain": "0M0", "difficulty": "basic"}',14,16000,1,10.0,'000000000000000000000000000000000000000000000000000000000000000e');
INSERT INTO "samples" VALUES('data of 48','0M0_0_00000003','environment_reasoning','Listen.','15.flac','["A lorry and a kettle slowly in the church."]','{"clip": "0M0_0", "domain": "0M0", "difficulty": "basic"}',15,16000,1,10.0,'000000000000000000000000000000000000000000000000000000000000000f');
INSERT INTO "samples" VALUES('data of 48','0M0_0_00000004','inference_judgement','Listen.','16.flac','["A crowd and a violin twice in the kitchen."]','{"clip": "0M0_0", "domain": "0M0", "difficulty": "basic"}',16,16000,1,10.0,'0000000000000000000000000000000000000000000000000000000000000010');
INSERT INTO "samples" VALUES('data of 48','0M0_0_00000005','application_context','Listen.','17.flac','["A crowd and a piano softly in the street."]','{"clip": "0M0_0", "domain": "0M0", "difficulty": "basic"}',17,16000,1,10.0,'0000000000000000000000000000000000000000000000000000000000000011');
INSERT INTO "samples" VALUES('data of 48','0MA_0_00000000','direct_perception','Listen.','18.flac','["A engine and a lorry softly in the yard."]','{"clip": "0MA_0", "domain": "0MA", "difficulty": "basic"}',18,16000,1,10.0,'0000000000000000000000000000000000000000000000000000000000000012');
INSERT INTO "samples" VALUES('data of 48','0MA_0_00000001','sound_characteristics','Listen.','19.flac','["A violin and a dog nearby in the harbour."]','{"clip": "0MA_0", "domain": "0MA", "difficulty": "basic"}',19,16000,1,10.0,'0000000000000000000000000000000000000000000000000000000000000013');
INSERT INTO "samples" VALUES('data of 48','0MA_0_00000002','quality_assessment','Listen.','20.flac','["A river and a tractor far-off in the kitchen."]','{"clip": "0MA_0", "domain": "0MA", "difficulty": "basic"}',20,16000,1,10.0,'0000000000000000000000000000000000000000000000000000000000000014');
INSERT INTO "samples" VALUES('data of 48','0MA_0_00000003','environment_reasoning','Listen.','21.flac','["A violin and a lorry nearby in the church."]','{"clip": "0MA_0", "domain": "0MA", "difficulty": "basic"}',21,16000,1,10.0,'0000000000000000000000000000000000000000000000000000000000000015');
INSERT INTO "samples" VALUES('data of 48','0MA_0_00000004','inference_judgement','Listen.','22.flac','["A choir and a river barely in the garage."]','{"clip": "0MA_0", "domain": "0MA", "difficulty": "basic"}',22,16000,1,10.0,'0000000000000000000000000000000000000000000000000000000000000016');
INSERT INTO "samples" VALUES('data of 48','0MA_0_00000005','application_context','Listen.','23.flac','["A engine and a lorry twice in the church."]','{"clip": "0MA_0", "domain": "0MA", "difficulty": "basic"}',23,16000,1,10.0,'0000000000000000000000000000000000000000000000000000000000000017');
INSERT INTO "samples" VALUES('data of 48','S00_0_00000000','direct_perception','Listen.','24.flac','["A river and a whistle loudly in the kitchen."]','{"clip": "S00_0", "domain": "S00", "difficulty": "basic"}',24,16000,1,10.0,'0000000000000000000000000000000000000000000000000000000000000018');
INSERT INTO "samples" VALUES('data of 48','S00_0_00000001','sound_characteristics','Listen.','25.flac','["A lorry and a river wildly in the cellar."]','{"clip": "S00_0", "domain": "S00", "difficulty": "basic"}',25,16000,1,10.0,'0000000000000000000000000000000000000000000000000000000000000019');
INSERT INTO "samples" VALUES('data of 48','S00_0_00000002','quality_assessment','Listen.','26.flac','["A river and a piano softly in the kitchen."]','{"clip": "S00_0", "domain": "S00", "difficulty": "basic"}',26,16000,1,10.0,'000000000000000000000000000000000000000000000000000000000000001a');
INSERT INTO "samples" VALUES('data of 48','S00_0_00000003','environment_reasoning','Listen.','27.flac','["A river and a choir loudly in the hall."]','{"clip": "S00_0", "domain": "S00", "difficulty": "basic"}',27,16000,1,10.0,'000000000000000000000000000000000000000000000000000000000000001b');
INSERT INTO "samples" VALUES('data of 48','S00_0_00000004','inference_judgement','Listen.','28.flac','["A whistle and a violin slowly in the church."]','{"clip": "S00_0", "domain": "S00", "difficulty": "basic"}',28,16000,1,10.0,'000000000000000000000000000000000000000000000000000000000000001c');
INSERT INTO "samples" VALUES('data of 48','S00_0_00000005','application_context','Listen.','29.flac','["A whistle and a violin slowly in the kitchen."]','{"clip": "S00_0", "domain": "S00", "difficulty": "basic"}',29,16000,1,10.0,'000000000000000000000000000000000000000000000000000000000000001d');
INSERT INTO "samples" VALUES('data of 48','S0A_0_00000000','direct_perception','Listen.','30.flac','["A crowd and a river wildly in the station."]','{"clip": "S0A_0", "domain": "S0A", "difficulty": "basic"}',30,16000,1,10.0,'000000000000000000000000000000000000000000000000000000000000001e');
INSERT INTO "samples" VALUES('data of 48','S0A_0_00000001','sound_characteristics','Listen.','31.flac','["A crowd and a choir nearby in the station."]','{"clip": "S0A_0", "domain": "S0A", "difficulty": "basic"}',31,16000,1,10.0,'000000000000000000000000000000000000000000000000000000000000001f');
INSERT INTO "samples" VALUES('data of 48','S0A_0_00000002','quality_assessment','Listen.','32.flac','["A dog and a engine slowly in the church."]','{"clip": "S0A_0", "domain": "S0A", "difficulty": "basic"}',32,16000,1,10.0,'0000000000000000000000000000000000000000000000000000000000000020');
INSERT INTO "samples" VALUES('data of 48','S0A_0_00000003','environment_reasoning','Listen.','33.flac','["A kettle and a tractor softly in the hall."]','{"clip": "S0A_0", "domain": "S0A", "difficulty": "basic"}',33,16000,1,10.0,'0000000000000000000000000000000000000000000000000000000000000021');
INSERT INTO "samples" VALUES('data of 48','S0A_0_00000004','inference_judgement','Listen.','34.flac','["A tractor and a drum wildly in the kitchen."]','{"clip": "S0A_0", "domain": "S0A", "difficulty": "basic"}',34,16000,1,10.0,'0000000000000000000000000000000000000000000000000000000000000022');
INSERT INTO "samples" VALUES('data of 48','S0A_0_00000005','application_context','Listen.','35.flac','["A dog and a engine slowly in the church."]','{"clip": "S0A_0", "domain": "S0A", "difficulty": "basic"}',35,16000,1,10.0,'0000000000000000000000000000000000000000000000000000000000000023');
INSERT INTO "samples" VALUES('data of 48','SM0_0_00000000','direct_perception','Listen.','36.flac','["A whistle and a kettle nearby in the harbour."]','{"clip": "SM0_0", "domain": "SM0", "difficulty": "basic"}',36,16000,1,10.0,'0000000000000000000000000000000000000000000000000000000000000024');
INSERT INTO "samples" VALUES('data of 48','SM0_0_00000001','sound_characteristics','Listen.','37.flac','["A dog and a piano softly in the station."]','{"clip": "SM0_0", "domain": "SM0", "difficulty": "basic"}',37,16000,1,10.0,'0000000000000000000000000000000000000000000000000000000000000025');
INSERT INTO "samples" VALUES('data of 48','SM0_0_00000002','quality_assessment','Listen.','38.flac','["A tractor and a crowd far-off in the station."]','{"clip": "SM0_0", "domain": "SM0", "difficulty": "basic"}',38,16000,1,10.0,'0000000000000000000000000000000000000000000000000000000000000026');
INSERT INTO "samples" VALUES('data of 48','SM0_0_00000003','environment_reasoning','Listen.','39.flac','["A crowd and a river steadily in the cellar."]','{"clip": "SM0_0", "domain": "SM0", "difficulty": "basic"}',39,16000,1,10.0,'0000000000000000000000000000000000000000000000000000000000000027');
INSERT INTO "samples" VALUES('data of 48','SM0_0_00000004','inference_judgement','Listen.','40.flac','["A river and a engine barely in the station."]','{"clip": "SM0_0", "domain": "SM0", "difficulty": "basic"}',40,16000,1,10.0,'0000000000000000000000000000000000000000000000000000000000000028');
INSERT INTO "samples" VALUES('data of 48','SM0_0_00000005','application_context','Listen.','41.flac','["A dog and a violin wildly in the hall."]','{"clip": "SM0_0", "domain": "SM0", "difficulty": "basic"}',41,16000,1,10.0,'0000000000000000000000000000000000000000000000000000000000000029');
INSERT INTO "samples" VALUES('data of 48','SMA_0_00000000','direct_perception','Listen.','42.flac','["A dog and a kettle loudly in the hall."]','{"clip": "SMA_0", "domain": "SMA", "difficulty": "basic"}',42,16000,1,10.0,'000000000000000000000000000000000000000000000000000000000000002a');
INSERT INTO "samples" VALUES('data of 48','SMA_0_00000001','sound_characteristics','Listen.','43.flac','["A lorry and a violin wildly in the cellar."]','{"clip": "SMA_0", "domain": "SMA", "difficulty": "basic"}',43,16000,1,10.0,'000000000000000000000000000000000000000000000000000000000000002b');
INSERT INTO "samples" VALUES('data of 48','SMA_0_00000002','quality_assessment','Listen.','44.flac','["A kettle and a whistle slowly in the garage."]','{"clip": "SMA_0", "domain": "SMA", "difficulty": "basic"}',44,16000,1,10.0,'000000000000000000000000000000000000000000000000000000000000002c');
INSERT INTO "samples" VALUES('data of 48','SMA_0_00000003','environment_reasoning','Listen.','45.flac','["A kettle and a drum loudly in the garage."]','{"clip": "SMA_0", "domain": "SMA", "difficulty": "basic"}',45,16000,1,10.0,'000000000000000000000000000000000000000000000000000000000000002d');
INSERT INTO "samples" VALUES('data of 48','SMA_0_00000004','inference_judgement','Listen.','46.flac','["A engine and a violin far-off in the church."]','{"clip": "SMA_0", "domain": "SMA", "difficulty": "basic"}',46,16000,1,10.0,'000000000000000000000000000000000000000000000000000000000000002e');
INSERT INTO "samples" VALUES('data of 48','SMA_0_00000005','application_context','Listen.','47.flac','["A whistle and a choir steadily in the harbour."]','{"clip": "SMA_0", "domain": "SMA", "difficulty": "basic"}',47,16000,1,10.0,'000000000000000000000000000000000000000000000000000000000000002f');
INSERT INTO "samples" VALUES('data of 66','000_0/environment','environment','Listen.','5.flac','["A tractor and a crowd slowly in the church.", "A tractor and a crowd slowly in the church.", "A river and a violin steadily in the kitchen."]','{"clip": "000_0", "subtask": "environment", "domain": "000"}',5,16000,1,10.0,'0000000000000000000000000000000000000000000000000000000000000005');
INSERT INTO "samples" VALUES('data of 66','000_0/long','long','Listen.','0.flac','["A river and a choir wildly in the kitchen.", "A river and a choir wildly in the kitchen.", "A whistle and a tractor clearly in the harbour."]','{"clip": "000_0", "subtask": "long", "domain": "000"}',0,16000,1,10.0,'0000000000000000000000000000000000000000000000000000000000000000');
INSERT INTO "samples" VALUES('data of 66','000_0/music','outside_music','Listen.','3.flac','["None", "No music", "music absent"]','{"clip": "000_0", "subtask": "music", "domain": "000"}',3,16000,1,10.0,'0000000000000000000000000000000000000000000000000000000000000003');
INSERT INTO "samples" VALUES('data of 66','000_0/short','short','Listen.','1.flac','["A violin and a kettle barely in the station.", "A violin and a kettle barely in the station.", "A crowd and a engine nearby in the street."]','{"clip": "000_0", "subtask": "short", "domain": "000"}',1,16000,1,10.0,'0000000000000000000000000000000000000000000000000000000000000001');
INSERT INTO "samples" VALUES('data of 66','000_0/sound','outside_sound','Listen.','4.flac','["None", "No sound", "sound absent"]','{"clip": "000_0", "subtask": "sound", "domain": "000"}',4,16000,1,10.0,'0000000000000000000000000000000000000000000000000000000000000004');
INSERT INTO "samples" VALUES('data of 66','000_0/speech','outside_speech','Listen.','2.flac','["None", "No speech", "speech absent"]','{"clip": "000_0", "subtask": "speech", "domain": "000"}',2,16000,1,10.0,'0000000000000000000000000000000000000000000000000000000000000002');
INSERT INTO "samples" VALUES('data of 66','00A_0/environment','environment','Listen.','11.flac','["A piano and a river barely in the hall.", "A piano and a river barely in the hall.", "A river and a drum far-off in the yard."]','{"clip": "00A_0", "subtask": "environment", "domain": "00A"}',11,16000,1,10.0,'000000000000000000000000000000000000000000000000000000000000000b');
INSERT INTO "samples" VALUES('data of 66','00A_0/long','long','Listen.','6.flac','["A whistle and a drum softly in the street.", "A whistle and a drum softly in the street.", "A whistle and a lorry twice in the station."]','{"clip": "00A_0", "subtask": "long", "domain": "00A"}',6,16000,1,10.0,'0000000000000000000000000000000000000000000000000000000000000006');
INSERT INTO "samples" VALUES('data of 66','00A_0/music','outside_music','Listen.','9.flac','["None", "No music", "music absent"]','{"clip": "00A_0", "subtask": "music", "domain": "00A"}',9,16000,1,10.0,'0000000000000000000000000000000000000000000000000000000000000009');
INSERT INTO "samples" VALUES('data of 66','00A_0/short','short','Listen.','7.flac','["A dog and a piano barely in the kitchen.", "A dog and a piano barely in the kitchen.", "A violin and a river slowly in the forest."]','{"clip": "00A_0", "subtask": "short", "domain": "00A"}',7,16000,1,10.0,'0000000000000000000000000000000000000000000000000000000000000007');
INSERT INTO "samples" VALUES('data of 66','00A_0/sound','pure_sound','Listen.','10.flac','["A kettle and a whistle far-off in the garage.", "A kettle and a whistle far-off in the garage.", "A piano and a lorry softly in the forest."]','{"clip": "00A_0", "subtask": "sound", "domain": "00A"}',10,16000,1,10.0,'000000000000000000000000000000000000000000000000000000000000000a');
INSERT INTO "samples" VALUES('data of 66','00A_0/speech','outside_speech','Listen.','8.flac','["None", "No speech", "speech absent"]','{"clip": "00A_0", "subtask": "speech", "domain": "00A"}',8,16000,1,10.0,'0000000000000000000000000000000000000000000000000000000000000008');
INSERT INTO "samples" VALUES('data of 66','0M0_0/environment','environment','Listen.','17.flac','["A dog and a piano twice in the forest.", "A dog and a piano twice in the forest.", "A tractor and a piano slowly in the church."]','{"clip": "0M0_0", "subtask": "environment", "domain": "0M0"}',17,16000,1,10.0,'0000000000000000000000000000000000000000000000000000000000000011');
INSERT INTO "samples" VALUES('data of 66','0M0_0/long','long','Listen.','12.flac','["A tractor and a kettle steadily in the street.", "A tractor and a kettle steadily in the street.", "A violin and a whistle slowly in the garage."]','{"clip": "0M0_0", "subtask": "long", "domain": "0M0"}',12,16000,1,10.0,'000000000000000000000000000000000000000000000000000000000000000c');
INSERT INTO "samples" VALUES('data of 66','0M0_0/music','pure_music','Listen.','15.flac','["A kettle and a engine softly in the station.", "A kettle and a engine softly in the station.", "A violin and a dog loudly in the harbour."]','{"clip": "0M0_0", "subtask": "music", "domain": "0M0"}',15,16000,1,10.0,'000000000000000000000000000000000000000000000000000000000000000f');
INSERT INTO "samples" VALUES('data of 66','0M0_0/short','short','Listen.','13.flac','["A engine and a dog barely in the forest.", "A engine and a dog barely in the forest.", "A dog and a lorry clearly in the street."]','{"clip": "0M0_0", "subtask": "short", "domain": "0M0"}',13,16000,1,10.0,'000000000000000000000000000000000000000000000000000000000000000d');
INSERT INTO "samples" VALUES('data of 66','0M0_0/sound','outside_sound','Listen.','16.flac','["None", "No sound", "sound absent"]','{"clip": "0M0_0", "subtask": "sound", "domain": "0M0"}',16,16000,1,10.0,'0000000000000000000000000000000000000000000000000000000000000010');
INSERT INTO "samples" VALUES('data of 66','0M0_0/speech','outside_speech','Listen.','14.flac','["None", "No speech", "speech absent"]','{"clip": "0M0_0", "subtask": "speech", "domain": "0M0"}',14,16000,1,10.0,'000000000000000000000000000000000000000000000000000000000000000e');
INSERT INTO "samples" VALUES('data of 66','0MA_0/environment','environment','Listen.','23.flac','["A choir and a crowd barely in the hall.", "A choir and a crowd barely in the hall.", "A choir and a dog steadily in the hall."]','{"clip": "0MA_0", "subtask": "environment", "domain": "0MA"}',23,16000,1,10.0,'0000000000000000000000000000000000000000000000000000000000000017');
INSERT INTO "samples" VALUES('data of 66','0MA_0/long','long','Listen.','18.flac','["A kettle and a lorry steadily in the cellar.", "A kettle and a lorry steadily in the cellar.", "A engine and a tractor barely in the church."]','{"clip": "0MA_0", "subtask": "long", "domain": "0MA"}',18,16000,1,10.0,'0000000000000000000000000000000000000000000000000000000000000012');
INSERT INTO "samples" VALUES('data of 66','0MA_0/music','mixed_music','Listen.','21.flac','["A tractor and a whistle nearby in the church.", "A tractor and a whistle nearby in the church.", "A engine and a lorry loudly in the forest."]','{"clip": "0MA_0", "subtask": "music", "domain": "0MA"}',21,16000,1,10.0,'0000000000000000000000000000000000000000000000000000000000000015');
INSERT INTO "samples" VALUES('data of 66','0MA_0/short','short','Listen.','19.flac','["A crowd and a piano clearly in the hall.", "A crowd and a piano clearly in the hall.", "A choir and a lorry softly in the church."]','{"clip": "0MA_0", "subtask": "short", "domain": "0MA"}',19,16000,1,10.0,'0000000000000000000000000000000000000000000000000000000000000013');
INSERT INTO "samples" VALUES('data of 66','0MA_0/sound','mixed_sound','Listen.','22.flac','["A river and a engine twice in the church.", "A river and a engine twice in the church.", "A drum and a choir loudly in the harbour."]','{"clip": "0MA_0", "subtask": "sound", "domain": "0MA"}',22,16000,1,10.0,'0000000000000000000000000000000000000000000000000000000000000016');
INSERT INTO "samples" VALUES('data of 66','0MA_0/speech','mixed_speech','Listen.','20.flac','["None", "No speech", "speech absent"]','{"clip": "0MA_0", "subtask": "speech", "domain": "0MA"}',20,16000,1,10.0,'0000000000000000000000000000000000000000000000000000000000000014');
INSERT INTO "samples" VALUES('data of 66','S00_0/environment','environment','Listen.','29.flac','["A violin and a engine twice in the hall.", "A violin and a engine twice in the hall.", "A crowd and a engine nearby in the hall."]','{"clip": "S00_0", "subtask": "environment", "domain": "S00"}',29,16000,1,10.0,'000000000000000000000000000000000000000000000000000000000000001d');
INSERT INTO "samples" VALUES('data of 66','S00_0/long','long','Listen.','24.flac','["A engine and a choir loudly in the street.", "A engine and a choir loudly in the street.", "A dog and a lorry twice in the church."]','{"clip": "S00_0", "subtask": "long", "domain": "S00"}',24,16000,1,10.0,'0000000000000000000000000000000000000000000000000000000000000018');
INSERT INTO "samples" VALUES('data of 66','S00_0/music','outside_music','Listen.','27.flac','["None", "No music", "music absent"]','{"clip": "S00_0", "subtask": "music", "domain": "S00"}',27,16000,1,10.0,'000000000000000000000000000000000000000000000000000000000000001b');
INSERT INTO "samples" VALUES('data of 66','S00_0/short','short','Listen.','25.flac','["A kettle and a choir nearby in the church.", "A kettle and a choir nearby in the church.", "A river and a choir softly in the church."]','{"clip": "S00_0", "subtask": "short", "domain": "S00"}',25,16000,1,10.0,'0000000000000000000000000000000000000000000000000000000000000019');
INSERT INTO "samples" VALUES('data of 66','S00_0/sound','outside_sound','Listen.','28.flac','["None", "No sound", "sound absent"]','{"clip": "S00_0", "subtask": "sound", "domain": "S00"}',28,16000,1,10.0,'000000000000000000000000000000000000000000000000000000000000001c');
INSERT INTO "samples" VALUES('data of 66','S00_0/speech','pure_speech','Listen.','26.flac','["A river and a lorry softly in the yard.", "A river and a lorry softly in the yard.", "A tractor and a kettle nearby in the harbour."]','{"clip": "S00_0", "subtask": "speech", "domain": "S00"}',26,16000,1,10.0,'000000000000000000000000000000000000000000000000000000000000001a');
INSERT INTO "samples" VALUES('data of 66','S0A_0/environment','environment','Listen.','35.flac','["A piano and a choir loudly in the yard.", "A piano and a choir loudly in the yard.", "A drum and a tractor wildly in the station."]','{"clip": "S0A_0", "subtask": "environment", "domain": "S0A"}',35,16000,1,10.0,'0000000000000000000000000000000000000000000000000000000000000023');
INSERT INTO "samples" VALUES('data of 66','S0A_0/long','long','Listen.','30.flac','["A whistle and a tractor loudly in the kitchen.", "A whistle and a tractor loudly in the kitchen.", "A whistle and a drum slowly in the street."]','{"clip": "S0A_0", "subtask": "long", "domain": "S0A"}',30,16000,1,10.0,'000000000000000000000000000000000000000000000000000000000000001e');
INSERT INTO "samples" VALUES('data of 66','S0A_0/music','mixed_music','Listen.','33.flac','["None", "No music", "music absent"]','{"clip": "S0A_0", "subtask": "music", "domain": "S0A"}',33,16000,1,10.0,'0000000000000000000000000000000000000000000000000000000000000021');
INSERT INTO "samples" VALUES('data of 66','S0A_0/short','short','Listen.','31.flac','["A drum and a choir twice in the church.", "A drum and a choir twice in the church.", "A crowd and a piano wildly in the cellar."]','{"clip": "S0A_0", "subtask": "short", "domain": "S0A"}',31,16000,1,10.0,'000000000000000000000000000000000000000000000000000000000000001f');
INSERT INTO "samples" VALUES('data of 66','S0A_0/sound','mixed_sound','Listen.','34.flac','["A violin and a crowd slowly in the forest.", "A violin and a crowd slowly in the forest.", "A engine and a dog twice in the kitchen."]','{"clip": "S0A_0", "subtask": "sound", "domain": "S0A"}',34,16000,1,10.0,'0000000000000000000000000000000000000000000000000000000000000022');
INSERT INTO "samples" VALUES('data of 66','S0A_0/speech','mixed_speech','Listen.','32.flac','["A tractor and a whistle loudly in the garage.", "A tractor and a whistle loudly in the garage.", "A whistle and a piano softly in the kitchen."]','{"clip": "S0A_0", "subtask": "speech", "domain": "S0A"}',32,16000,1,10.0,'0000000000000000000000000000000000000000000000000000000000000020');
INSERT INTO "samples" VALUES('data of 66','SM0_0/environment','environment','Listen.','41.flac','["A engine and a dog twice in the garage.", "A engine and a dog twice in the garage.", "A tractor and a dog softly in the church."]','{"clip": "SM0_0", "subtask": "environment", "domain": "SM0"}',41,16000,1,10.0,'0000000000000000000000000000000000000000000000000000000000000029');
INSERT INTO "samples" VALUES('data of 66','SM0_0/long','long','Listen.','36.flac','["A drum and a lorry nearby in the church.", "A drum and a lorry nearby in the church.", "A tractor and a whistle barely in the church."]','{"clip": "SM0_0", "subtask": "long", "domain": "SM0"}',36,16000,1,10.0,'0000000000000000000000000000000000000000000000000000000000000024');
INSERT INTO "samples" VALUES('data of 66','SM0_0/music','mixed_music','Listen.','39.flac','["A choir and a whistle loudly in the church.", "A choir and a whistle loudly in the church.", "A whistle and a tractor steadily in the street."]','{"clip": "SM0_0", "subtask": "music", "domain": "SM0"}',39,16000,1,10.0,'0000000000000000000000000000000000000000000000000000000000000027');
INSERT INTO "samples" VALUES('data of 66','SM0_0/short','short','Listen.','37.flac','["A crowd and a tractor loudly in the station.", "A crowd and a tractor loudly in the station.", "A kettle and a river slowly in the yard."]','{"clip": "SM0_0", "subtask": "short", "domain": "SM0"}',37,16000,1,10.0,'0000000000000000000000000000000000000000000000000000000000000025');
INSERT INTO "samples" VALUES('data of 66','SM0_0/sound','mixed_sound','Listen.','40.flac','["None", "No sound", "sound absent"]','{"clip": "SM0_0", "subtask": "sound", "domain": "SM0"}',40,16000,1,10.0,'0000000000000000000000000000000000000000000000000000000000000028');
INSERT INTO "samples" VALUES('data of 66','SM0_0/speech','mixed_speech','Listen.','38.flac','["A river and a engine wildly in the harbour.", "A river and a engine wildly in the harbour.", "A violin and a kettle twice in the kitchen."]','{"clip": "SM0_0", "subtask": "speech", "domain": "SM0"}',38,16000,1,10.0,'0000000000000000000000000000000000000000000000000000000000000026');
INSERT INTO "samples" VALUES('data of 66','SM0_1/environment','environment','Listen.','47.flac','["A kettle and a crowd softly in the church.", "A kettle and a crowd softly in the church.", "A dog and a engine slowly in the church."]','{"clip": "SM0_1", "subtask": "environment", "domain": "SM0"}',47,16000,1,10.0,'000000000000000000000000000000000000000000000000000000000000002f');
INSERT INTO "samples" VALUES('data of 66','SM0_1/long','long','Listen.','42.flac','["A choir and a violin clearly in the church.", "A choir and a violin clearly in the church.", "A drum and a whistle steadily in the garage."]','{"clip": "SM0_1", "subtask": "long", "domain": "SM0"}',42,16000,1,10.0,'000000000000000000000000000000000000000000000000000000000000002a');
INSERT INTO "samples" VALUES('data of 66','SM0_1/music','mixed_music','Listen.','45.flac','["A kettle and a crowd wildly in the cellar.", "A kettle and a crowd wildly in the cellar.", "A tractor and a crowd slowly in the harbour."]','{"clip": "SM0_1", "subtask": "music", "domain": "SM0"}',45,16000,1,10.0,'000000000000000000000000000000000000000000000000000000000000002d');
INSERT INTO "samples" VALUES('data of 66','SM0_1/short','short','Listen.','43.flac','["A drum and a kettle barely in the garage.", "A drum and a kettle barely in the garage.", "A violin and a whistle far-off in the station."]','{"clip": "SM0_1", "subtask": "short", "domain": "SM0"}',43,16000,1,10.0,'000000000000000000000000000000000000000000000000000000000000002b');
INSERT INTO "samples" VALUES('data of 66','SM0_1/sound','mixed_sound','Listen.','46.flac','["None", "No sound", "sound absent"]','{"clip": "SM0_1", "subtask": "sound", "domain": "SM0"}',46,16000,1,10.0,'000000000000000000000000000000000000000000000000000000000000002e');
INSERT INTO "samples" VALUES('data of 66','SM0_1/speech','mixed_speech','Listen.','44.flac','["A drum and a crowd clearly in the forest.", "A drum and a crowd clearly in the forest.", "A drum and a crowd clearly in the street."]','{"clip": "SM0_1", "subtask": "speech", "domain": "SM0"}',44,16000,1,10.0,'000000000000000000000000000000000000000000000000000000000000002c');
INSERT INTO "samples" VALUES('data of 66','SM0_2/environment','environment','Listen.','53.flac','["A dog and a drum wildly in the harbour.", "A dog and a drum wildly in the harbour.", "A kettle and a piano barely in the street."]','{"clip": "SM0_2", "subtask": "environment", "domain": "SM0"}',53,16000,1,10.0,'0000000000000000000000000000000000000000000000000000000000000035');
INSERT INTO "samples" VALUES('data of 66','SM0_2/long','long','Listen.','48.flac','["A kettle and a whistle steadily in the kitchen.", "A kettle and a whistle steadily in the kitchen.", "A dog and a violin nearby in the forest."]','{"clip": "SM0_2", "subtask": "long", "domain": "SM0"}',48,16000,1,10.0,'0000000000000000000000000000000000000000000000000000000000000030');
INSERT INTO "samples" VALUES('data of 66','SM0_2/music','mixed_music','Listen.','51.flac','["A engine and a kettle loudly in the yard.", "A engine and a kettle loudly in the yard.", "A kettle and a whistle loudly in the hall."]','{"clip": "SM0_2", "subtask": "music", "domain": "SM0"}',51,16000,1,10.0,'0000000000000000000000000000000000000000000000000000000000000033');
INSERT INTO "samples" VALUES('data of 66','SM0_2/short','short','Listen.','49.flac','["A tractor and a lorry steadily in the hall.", "A tractor and a lorry steadily in the hall.", "A drum and a river slowly in the station."]','{"clip": "SM0_2", "subtask": "short", "domain": "SM0"}',49,16000,1,10.0,'0000000000000000000000000000000000000000000000000000000000000031');
INSERT INTO "samples" VALUES('data of 66','SM0_2/sound','mixed_sound','Listen.','52.flac','["None", "No sound", "sound absent"]','{"clip": "SM0_2", "subtask": "sound", "domain": "SM0"}',52,16000,1,10.0,'0000000000000000000000000000000000000000000000000000000000000034');
INSERT INTO "samples" VALUES('data of 66','SM0_2/speech','mixed_speech','Listen.','50.flac','["A river and a tractor wildly in the forest.", "A river and a tractor wildly in the forest.", "A dog and a engine clearly in the station."]','{"clip": "SM0_2", "subtask": "speech", "domain": "SM0"}',50,16000,1,10.0,'0000000000000000000000000000000000000000000000000000000000000032');
INSERT INTO "samples" VALUES('data of 66','SM0_3/environment','environment','Listen.','59.flac','["A choir and a crowd far-off in the church.", "A choir and a crowd far-off in the church.", "A kettle and a river clearly in the street."]','{"clip": "SM0_3", "subtask": "environment", "domain": "SM0"}',59,16000,1,10.0,'000000000000000000000000000000000000000000000000000000000000003b');
INSERT INTO "samples" VALUES('data of 66','SM0_3/long','long','Listen.','54.flac','["A piano and a kettle steadily in the garage.", "A piano and a kettle steadily in the garage.", "A lorry and a violin loudly in the kitchen."]','{"clip": "SM0_3", "subtask": "long", "domain": "SM0"}',54,16000,1,10.0,'0000000000000000000000000000000000000000000000000000000000000036');
INSERT INTO "samples" VALUES('data of 66','SM0_3/music','mixed_music','Listen.','57.flac','["A crowd and a lorry twice in the street.", "A crowd and a lorry twice in the street.", "A violin and a piano nearby in the station."]','{"clip": "SM0_3", "subtask": "music", "domain": "SM0"}',57,16000,1,10.0,'0000000000000000000000000000000000000000000000000000000000000039');
INSERT INTO "samples" VALUES('data of 66','SM0_3/short','short','Listen.','55.flac','["A dog and a piano twice in the yard.", "A dog and a piano twice in the yard.", "A violin and a kettle wildly in the hall."]','{"clip": "SM0_3", "subtask": "short", "domain": "SM0"}',55,16000,1,10.0,'0000000000000000000000000000000000000000000000000000000000000037');
INSERT INTO "samples" VALUES('data of 66','SM0_3/sound','mixed_sound','Listen.','58.flac','["None", "No sound", "sound absent"]','{"clip": "SM0_3", "subtask": "sound", "domain": "SM0"}',58,16000,1,10.0,'000000000000000000000000000000000000000000000000000000000000003a');
INSERT INTO "samples" VALUES('data of 66','SM0_3/speech','mixed_speech','Listen.','56.flac','["A kettle and a choir loudly in the street.", "A kettle and a choir loudly in the street.", "A tractor and a violin barely in the cellar."]','{"clip": "SM0_3", "subtask": "speech", "domain": "SM0"}',56,16000,1,10.0,'0000000000000000000000000000000000000000000000000000000000000038');
INSERT INTO "samples" VALUES('data of 66','SMA_0/environment','environment','Listen.','65.flac','["A lorry and a drum softly in the station.", "A lorry and a drum softly in the station.", "A drum and a engine clearly in the yard."]','{"clip": "SMA_0", "subtask": "environment", "domain": "SMA"}',65,16000,1,10.0,'0000000000000000000000000000000000000000000000000000000000000041');
INSERT INTO "samples" VALUES('data of 66','SMA_0/long','long','Listen.','60.flac','["A dog and a river far-off in the cellar.", "A dog and a river far-off in the cellar.", "A whistle and a drum softly in the church."]','{"clip": "SMA_0", "subtask": "long", "domain": "SMA"}',60,16000,1,10.0,'000000000000000000000000000000000000000000000000000000000000003c');
INSERT INTO "samples" VALUES('data of 66','SMA_0/music','mixed_music','Listen.','63.flac','["A river and a choir slowly in the yard.", "A river and a choir slowly in the yard.", "A engine and a lorry barely in the harbour."]','{"clip": "SMA_0", "subtask": "music", "domain": "SMA"}',63,16000,1,10.0,'000000000000000000000000000000000000000000000000000000000000003f');
INSERT INTO "samples" VALUES('data of 66','SMA_0/short','short','Listen.','61.flac','["A dog and a whistle twice in the street.", "A dog and a whistle twice in the street.", "A lorry and a crowd far-off in the garage."]','{"clip": "SMA_0", "subtask": "short", "domain": "SMA"}',61,16000,1,10.0,'000000000000000000000000000000000000000000000000000000000000003d');
INSERT INTO "samples" VALUES('data of 66','SMA_0/sound','mixed_sound','Listen.','64.flac','["A whistle and a tractor far-off in the kitchen.", "A whistle and a tractor far-off in the kitchen.", "A lorry and a whistle barely in the kitchen."]','{"clip": "SMA_0", "subtask": "sound", "domain": "SMA"}',64,16000,1,10.0,'0000000000000000000000000000000000000000000000000000000000000040');
INSERT INTO "samples" VALUES('data of 66','SMA_0/speech','mixed_speech','Listen.','62.flac','["A river and a piano steadily in the hall.", "A river and a piano steadily in the hall.", "A piano and a river softly in the yard."]','{"clip": "SMA_0", "subtask": "speech", "domain": "SMA"}',62,16000,1,10.0,'000000000000000000000000000000000000000000000000000000000000003e');
CREATE TABLE schema_version (
	version INTEGER NOT NULL, 
	PRIMARY KEY (version)
);
INSERT INTO "schema_version" VALUES(3);
CREATE TABLE scores (
	run INTEGER NOT NULL, 
	sample TEXT NOT NULL, 
	metric TEXT NOT NULL, 
	value FLOAT NOT NULL, 
	statistics JSON NOT NULL, 
	signature INTEGER NOT NULL, 
	PRIMARY KEY (run, sample, metric), 
	FOREIGN KEY(run, sample) REFERENCES run_samples (run, sample) ON DELETE CASCADE, 
	FOREIGN KEY(signature) REFERENCES signatures (id)
)
 WITHOUT ROWID

;
INSERT INTO "scores" VALUES(1,'sound_01','bleu_1',4.1666666666666668517e-01,'[0.4166666666666667]',1);
INSERT INTO "scores" VALUES(1,'sound_01','bleu_2',4.25628265379374357003e-02,'[0.042562826537937436]',2);
INSERT INTO "scores" VALUES(1,'sound_01','bleu_3',2.01935533982751797e-02,'[0.02019355339827518]',3);
INSERT INTO "scores" VALUES(1,'sound_01','bleu_4',1.40719646893175207719e-02,'[0.01407196468931752]',4);
INSERT INTO "scores" VALUES(1,'sound_01','meteor',2.84552845528455333746e-01,'[0.28455284552845533]',29);
INSERT INTO "scores" VALUES(1,'sound_01','rouge_l',2.85714285714285698425e-01,'[0.2857142857142857]',31);
INSERT INTO "scores" VALUES(1,'sound_02','bleu_1',2.06896551724137955919e-01,'[0.20689655172413796]',1);
INSERT INTO "scores" VALUES(1,'sound_02','bleu_2',1.21566134770966144396e-01,'[0.12156613477096614]',2);
INSERT INTO "scores" VALUES(1,'sound_02','bleu_3',3.79682415847503590411e-02,'[0.03796824158475036]',3);
INSERT INTO "scores" VALUES(1,'sound_02','bleu_4',2.14201262469740291716e-02,'[0.02142012624697403]',4);
INSERT INTO "scores" VALUES(1,'sound_02','meteor',1.75038051750380535543e-01,'[0.17503805175038054]',29);
INSERT INTO "scores" VALUES(1,'sound_02','rouge_l',1.95121951219512201892e-01,'[0.1951219512195122]',31);
INSERT INTO "scores" VALUES(1,'sound_03','bleu_1',2.06896551724137955919e-01,'[0.20689655172413796]',1);
INSERT INTO "scores" VALUES(1,'sound_03','bleu_2',2.71830141109781209252e-02,'[0.02718301411097812]',2);
INSERT INTO "scores" VALUES(1,'sound_03','bleu_3',1.39876197946208064016e-02,'[0.013987619794620806]',3);
INSERT INTO "scores" VALUES(1,'sound_03','bleu_4',1.01289523309321879974e-02,'[0.010128952330932188]',4);
INSERT INTO "scores" VALUES(1,'sound_03','meteor',2.47524752475247578065e-01,'[0.24752475247524758]',29);
INSERT INTO "scores" VALUES(1,'sound_03','rouge_l',2.16216216216216228219e-01,'[0.21621621621621623]',31);
INSERT INTO "scores" VALUES(1,'sound_04','bleu_1',1.6666666666666668517e-01,'[0.16666666666666669]',1);
INSERT INTO "scores" VALUES(1,'sound_04','bleu_2',3.13112145542574771273e-02,'[0.03131121455425748]',2);
INSERT INTO "scores" VALUES(1,'sound_04','bleu_3',1.8298968738000565698e-02,'[0.018298968738000566]',3);
INSERT INTO "scores" VALUES(1,'sound_04','bleu_4',1.42166459076538478912e-02,'[0.014216645907653848]',4);
INSERT INTO "scores" VALUES(1,'sound_04','meteor',1.51515151515151519357e-01,'[0.15151515151515152]',29);
INSERT INTO "scores" VALUES(1,'sound_04','rouge_l',2.85714285714285698425e-01,'[0.2857142857142857]',31);
INSERT INTO "scores" VALUES(1,'sound_05','bleu_1',3.27492301231192772804e-01,'[0.3274923012311928]',1);
INSERT INTO "scores" VALUES(1,'sound_05','bleu_2',1.72603598010089037684e-01,'[0.17260359801008904]',2);
INSERT INTO "scores" VALUES(1,'sound_05','bleu_3',6.73054556288866095981e-02,'[0.06730545562888661]',3);
INSERT INTO "scores" VALUES(1,'sound_05','bleu_4',4.34558718294331333687e-02,'[0.04345587182943313]',4);
INSERT INTO "scores" VALUES(1,'sound_05','meteor',1.47637795275590538724e-01,'[0.14763779527559054]',29);
INSERT INTO "scores" VALUES(1,'sound_05','rouge_l',0.24,'[0.24]',31);
INSERT INTO "scores" VALUES(2,'sound_01','bleu_1',3.63636363636363646457e-01,'[0.36363636363636365]',1);
INSERT INTO "scores" VALUES(2,'sound_01','bleu_2',1.90692517849118475803e-01,'[0.19069251784911848]',2);
INSERT INTO "scores" VALUES(2,'sound_01','bleu_3',7.39278822620258874165e-02,'[0.07392788226202589]',3);
INSERT INTO "scores" VALUES(2,'sound_01','bleu_4',4.74060425987813810478e-02,'[0.04740604259878138]',4);
INSERT INTO "scores" VALUES(2,'sound_01','meteor',3.43070652173912971072e-01,'[0.34307065217391297]',29);
INSERT INTO "scores" VALUES(2,'sound_01','rouge_l',0.3,'[0.3]',31);
INSERT INTO "scores" VALUES(2,'sound_02','bleu_1',6.6407324820528179643e-01,'[0.6640732482052818]',1);
INSERT INTO "scores" VALUES(2,'sound_02','bleu_2',4.26508766123322946573e-01,'[0.42650876612332295]',2);
INSERT INTO "scores" VALUES(2,'sound_02','bleu_3',2.64267668097887098444e-01,'[0.2642676680978871]',3);
INSERT INTO "scores" VALUES(2,'sound_02','bleu_4',1.20473131288578394482e-01,'[0.1204731312885784]',4);
INSERT INTO "scores" VALUES(2,'sound_02','meteor',5.12659671532846639153e-01,'[0.5126596715328466]',29);
INSERT INTO "scores" VALUES(2,'sound_02','rouge_l',0.64,'[0.64]',31);
INSERT INTO "scores" VALUES(2,'sound_03','bleu_1',3.715190998929349675e-01,'[0.37151909989293497]',1);
INSERT INTO "scores" VALUES(2,'sound_03','bleu_2',2.31682864073667643678e-01,'[0.23168286407366764]',2);
INSERT INTO "scores" VALUES(2,'sound_03','bleu_3',0.0976319397197047,'[0.0976319397197047]',3);
INSERT INTO "scores" VALUES(2,'sound_03','bleu_4',0.0670144447096575,'[0.0670144447096575]',4);
INSERT INTO "scores" VALUES(2,'sound_03','meteor',3.23488045007032376521e-01,'[0.3234880450070324]',29);
INSERT INTO "scores" VALUES(2,'sound_03','rouge_l',5.33333333333333325932e-01,'[0.5333333333333333]',31);
INSERT INTO "scores" VALUES(2,'sound_04','bleu_1',3.97706363028608733678e-01,'[0.39770636302860873]',1);
INSERT INTO "scores" VALUES(2,'sound_04','bleu_2',6.66973847112133783055e-02,'[0.06669738471121338]',2);
INSERT INTO "scores" VALUES(2,'sound_04','bleu_3',3.84551824200116687535e-02,'[0.03845518242001167]',3);
INSERT INTO "scores" VALUES(2,'sound_04','bleu_4',3.03469192239270400824e-02,'[0.03034691922392704]',4);
INSERT INTO "scores" VALUES(2,'sound_04','meteor',1.70940170940170943492e-01,'[0.17094017094017094]',29);
INSERT INTO "scores" VALUES(2,'sound_04','rouge_l',3.80952380952380931234e-01,'[0.38095238095238093]',31);
INSERT INTO "scores" VALUES(2,'sound_05','bleu_1',8.46153846153846145306e-01,'[0.8461538461538461]',1);
INSERT INTO "scores" VALUES(2,'sound_05','bleu_2',4.59933105503899930522e-01,'[0.45993310550389993]',2);
INSERT INTO "scores" VALUES(2,'sound_05','bleu_3',1.2435565865985816203e-01,'[0.12435565865985816]',3);
INSERT INTO "scores" VALUES(2,'sound_05','bleu_4',6.62215229101169727821e-02,'[0.06622152291011697]',4);
INSERT INTO "scores" VALUES(2,'sound_05','meteor',3.68916797488226033686e-01,'[0.36891679748822603]',29);
INSERT INTO "scores" VALUES(2,'sound_05','rouge_l',0.56,'[0.56]',31);
INSERT INTO "scores" VALUES(3,'sound_01','meteor',2.13068181818181823228e-01,'[0.21306818181818182]',29);
INSERT INTO "scores" VALUES(3,'sound_02','meteor',9.43396226415094407702e-02,'[0.09433962264150944]',29);
INSERT INTO "scores" VALUES(3,'sound_03','meteor',1.26582278481012638904e-01,'[0.12658227848101264]',29);
INSERT INTO "scores" VALUES(3,'sound_04','meteor',1.63043478260869567631e-01,'[0.16304347826086957]',29);
INSERT INTO "scores" VALUES(3,'sound_05','meteor',8.69565217391304323691e-02,'[0.08695652173913043]',29);
INSERT INTO "scores" VALUES(10,'000_0/environment','date',0.541271293994005,'[0.541271293994005]',21);
INSERT INTO "scores" VALUES(10,'000_0/environment','date_discriminability',8.18181818181818121261e-01,'[0.8181818181818181]',5);
INSERT INTO "scores" VALUES(10,'000_0/environment','date_similarity',4.04402728715420600736e-01,'[0.4044027287154206]',13);
INSERT INTO "scores" VALUES(10,'000_0/environment','rouge_l',1.0,'[1.0]',31);
INSERT INTO "scores" VALUES(10,'000_0/long','date',5.71353377536588769026e-01,'[0.5713533775365888]',22);
INSERT INTO "scores" VALUES(10,'000_0/long','date_discriminability',8.18181818181818121261e-01,'[0.8181818181818181]',6);
INSERT INTO "scores" VALUES(10,'000_0/long','date_similarity',4.38935626565756908946e-01,'[0.4389356265657569]',14);
INSERT INTO "scores" VALUES(10,'000_0/long','rouge_l',1.0,'[1.0]',31);
INSERT INTO "scores" VALUES(10,'000_0/music','date',0.0,'[0.0]',23);
INSERT INTO "scores" VALUES(10,'000_0/music','date_discriminability',0.0,'[0.0]',7);
INSERT INTO "scores" VALUES(10,'000_0/music','date_similarity',5.90999549620667141703e-01,'[0.5909995496206671]',15);
INSERT INTO "scores" VALUES(10,'000_0/music','rouge_l',1.0,'[1.0]',31);
INSERT INTO "scores" VALUES(10,'000_0/short','date',4.36334760438899404988e-01,'[0.4363347604388994]',25);
INSERT INTO "scores" VALUES(10,'000_0/short','date_discriminability',6.36363636363636353543e-01,'[0.6363636363636364]',9);
INSERT INTO "scores" VALUES(10,'000_0/short','date_similarity',3.319823775861580617e-01,'[0.33198237758615806]',17);
INSERT INTO "scores" VALUES(10,'000_0/short','rouge_l',1.0,'[1.0]',31);
INSERT INTO "scores" VALUES(10,'000_0/sound','date',0.0,'[0.0]',27);
INSERT INTO "scores" VALUES(10,'000_0/sound','date_discriminability',0.0,'[0.0]',11);
INSERT INTO "scores" VALUES(10,'000_0/sound','date_similarity',5.92975421720226880673e-01,'[0.5929754217202269]',19);
INSERT INTO "scores" VALUES(10,'000_0/sound','rouge_l',1.0,'[1.0]',31);
INSERT INTO "scores" VALUES(10,'000_0/speech','date',0.0,'[0.0]',28);
INSERT INTO "scores" VALUES(10,'000_0/speech','date_discriminability',0.0,'[0.0]',12);
INSERT INTO "scores" VALUES(10,'000_0/speech','date_similarity',6.11960014311207611826e-01,'[0.6119600143112076]',20);
INSERT INTO "scores" VALUES(10,'000_0/speech','rouge_l',1.0,'[1.0]',31);
INSERT INTO "scores" VALUES(10,'00A_0/environment','date',6.06522725384743277566e-01,'[0.6065227253847433]',21);
INSERT INTO "scores" VALUES(10,'00A_0/environment','date_discriminability',8.18181818181818121261e-01,'[0.8181818181818181]',5);
INSERT INTO "scores" VALUES(10,'00A_0/environment','date_similarity',0.481866529998488,'[0.481866529998488]',13);
INSERT INTO "scores" VALUES(10,'00A_0/environment','rouge_l',1.0,'[1.0]',31);
INSERT INTO "scores" VALUES(10,'00A_0/long','date',5.62692508662687607135e-01,'[0.5626925086626876]',22);
INSERT INTO "scores" VALUES(10,'00A_0/long','date_discriminability',9.0909090909090906063e-01,'[0.9090909090909091]',6);
INSERT INTO "scores" VALUES(10,'00A_0/long','date_similarity',4.07441656699357390714e-01,'[0.4074416566993574]',14);
INSERT INTO "scores" VALUES(10,'00A_0/long','rouge_l',1.0,'[1.0]',31);
INSERT INTO "scores" VALUES(10,'00A_0/music','date',0.0,'[0.0]',23);
INSERT INTO "scores" VALUES(10,'00A_0/music','date_discriminability',0.0,'[0.0]',7);
INSERT INTO "scores" VALUES(10,'00A_0/music','date_similarity',5.90999549620667141703e-01,'[0.5909995496206671]',15);
INSERT INTO "scores" VALUES(10,'00A_0/music','rouge_l',1.0,'[1.0]',31);
INSERT INTO "scores" VALUES(10,'00A_0/short','date',3.98614865468651768943e-01,'[0.39861486546865177]',25);
INSERT INTO "scores" VALUES(10,'00A_0/short','date_discriminability',5.45454545454545414174e-01,'[0.5454545454545454]',9);
INSERT INTO "scores" VALUES(10,'00A_0/short','date_similarity',3.14066306298165620614e-01,'[0.3140663062981656]',17);
INSERT INTO "scores" VALUES(10,'00A_0/short','rouge_l',1.0,'[1.0]',31);
INSERT INTO "scores" VALUES(10,'00A_0/sound','rouge_l',1.0,'[1.0]',31);
INSERT INTO "scores" VALUES(10,'00A_0/speech','date',0.0,'[0.0]',28);
INSERT INTO "scores" VALUES(10,'00A_0/speech','date_discriminability',0.0,'[0.0]',12);
INSERT INTO "scores" VALUES(10,'00A_0/speech','date_similarity',6.11960014311207611826e-01,'[0.6119600143112076]',20);
INSERT INTO "scores" VALUES(10,'00A_0/speech','rouge_l',1.0,'[1.0]',31);
INSERT INTO "scores" VALUES(10,'0M0_0/environment','date',7.35020884325308654361e-01,'[0.7350208843253087]',21);
INSERT INTO "scores" VALUES(10,'0M0_0/environment','date_discriminability',9.0909090909090906063e-01,'[0.9090909090909091]',5);
INSERT INTO "scores" VALUES(10,'0M0_0/environment','date_similarity',6.16898914137368525878e-01,'[0.6168989141373685]',13);
INSERT INTO "scores" VALUES(10,'0M0_0/environment','rouge_l',1.0,'[1.0]',31);
INSERT INTO "scores" VALUES(10,'0M0_0/long','date',4.57033336449996940853e-01,'[0.45703333644999694]',22);
INSERT INTO "scores" VALUES(10,'0M0_0/long','date_discriminability',5.45454545454545414174e-01,'[0.5454545454545454]',6);
INSERT INTO "scores" VALUES(10,'0M0_0/long','date_similarity',3.93280400831287790808e-01,'[0.3932804008312878]',14);
INSERT INTO "scores" VALUES(10,'0M0_0/long','rouge_l',1.0,'[1.0]',31);
INSERT INTO "scores" VALUES(10,'0M0_0/music','rouge_l',1.0,'[1.0]',31);
INSERT INTO "scores" VALUES(10,'0M0_0/short','date',7.04187451918096729564e-01,'[0.7041874519180967]',25);
INSERT INTO "scores" VALUES(10,'0M0_0/short','date_discriminability',9.0909090909090906063e-01,'[0.9090909090909091]',9);
INSERT INTO "scores" VALUES(10,'0M0_0/short','date_similarity',5.74662161875855281856e-01,'[0.5746621618758553]',17);
INSERT INTO "scores" VALUES(10,'0M0_0/short','rouge_l',1.0,'[1.0]',31);
INSERT INTO "scores" VALUES(10,'0M0_0/sound','date',0.0,'[0.0]',27);
INSERT INTO "scores" VALUES(10,'0M0_0/sound','date_discriminability',0.0,'[0.0]',11);
INSERT INTO "scores" VALUES(10,'0M0_0/sound','date_similarity',5.92975421720226880673e-01,'[0.5929754217202269]',19);
INSERT INTO "scores" VALUES(10,'0M0_0/sound','rouge_l',1.0,'[1.0]',31);
INSERT INTO "scores" VALUES(10,'0M0_0/speech','date',0.0,'[0.0]',28);
INSERT INTO "scores" VALUES(10,'0M0_0/speech','date_discriminability',0.0,'[0.0]',12);
INSERT INTO "scores" VALUES(10,'0M0_0/speech','date_similarity',6.11960014311207611826e-01,'[0.6119600143112076]',20);
INSERT INTO "scores" VALUES(10,'0M0_0/speech','rouge_l',1.0,'[1.0]',31);
INSERT INTO "scores" VALUES(10,'0MA_0/environment','date',8.49060445524618345736e-01,'[0.8490604455246183]',21);
INSERT INTO "scores" VALUES(10,'0MA_0/environment','date_discriminability',9.0909090909090906063e-01,'[0.9090909090909091]',5);
INSERT INTO "scores" VALUES(10,'0MA_0/environment','date_similarity',7.96466938066524798856e-01,'[0.7964669380665248]',13);
INSERT INTO "scores" VALUES(10,'0MA_0/environment','rouge_l',1.0,'[1.0]',31);
INSERT INTO "scores" VALUES(10,'0MA_0/long','date',4.86399129403922769743e-01,'[0.48639912940392277]',22);
INSERT INTO "scores" VALUES(10,'0MA_0/long','date_discriminability',7.27272727272727292913e-01,'[0.7272727272727273]',6);
INSERT INTO "scores" VALUES(10,'0MA_0/long','date_similarity',3.65383632823228166053e-01,'[0.36538363282322817]',14);
INSERT INTO "scores" VALUES(10,'0MA_0/long','rouge_l',1.0,'[1.0]',31);
INSERT INTO "scores" VALUES(10,'0MA_0/music','date',5.52555841166962213862e-01,'[0.5525558411669622]',23);
INSERT INTO "scores" VALUES(10,'0MA_0/music','date_discriminability',7.14285714285714301575e-01,'[0.7142857142857143]',7);
INSERT INTO "scores" VALUES(10,'0MA_0/music','date_similarity',4.50543060381022320016e-01,'[0.4505430603810223]',15);
INSERT INTO "scores" VALUES(10,'0MA_0/music','rouge_l',1.0,'[1.0]',31);
INSERT INTO "scores" VALUES(10,'0MA_0/short','date',5.58761349736929924248e-01,'[0.5587613497369299]',25);
INSERT INTO "scores" VALUES(10,'0MA_0/short','date_discriminability',7.27272727272727292913e-01,'[0.7272727272727273]',9);
INSERT INTO "scores" VALUES(10,'0MA_0/short','date_similarity',4.53649365440157936735e-01,'[0.45364936544015794]',17);
INSERT INTO "scores" VALUES(10,'0MA_0/short','rouge_l',1.0,'[1.0]',31);
INSERT INTO "scores" VALUES(10,'0MA_0/sound','date',5.90944092865024805938e-01,'[0.5909440928650248]',27);
INSERT INTO "scores" VALUES(10,'0MA_0/sound','date[null=out]',5.33519541048473100453e-01,'[0.5335195410484731]',26);
INSERT INTO "scores" VALUES(10,'0MA_0/sound','date_discriminability',8.57142857142857206298e-01,'[0.8571428571428572]',11);
INSERT INTO "scores" VALUES(10,'0MA_0/sound','date_discriminability[null=out]',6.66666666666666740682e-01,'[0.6666666666666667]',10);
INSERT INTO "scores" VALUES(10,'0MA_0/sound','date_similarity',4.50907808017850686433e-01,'[0.4509078080178507]',19);
INSERT INTO "scores" VALUES(10,'0MA_0/sound','date_similarity[null=out]',4.44703126481766353173e-01,'[0.44470312648176635]',18);
INSERT INTO "scores" VALUES(10,'0MA_0/sound','rouge_l',1.0,'[1.0]',31);
INSERT INTO "scores" VALUES(10,'0MA_0/sound','rouge_l[null=out]',1.0,'[1.0]',30);
INSERT INTO "scores" VALUES(10,'0MA_0/speech','date',7.29920364971321733449e-01,'[0.7299203649713217]',28);
INSERT INTO "scores" VALUES(10,'0MA_0/speech','date_discriminability',8.57142857142857206298e-01,'[0.8571428571428572]',12);
INSERT INTO "scores" VALUES(10,'0MA_0/speech','date_similarity',6.3558314761286183181e-01,'[0.6355831476128618]',20);
INSERT INTO "scores" VALUES(10,'0MA_0/speech','rouge_l',1.0,'[1.0]',31);
INSERT INTO "scores" VALUES(10,'S00_0/environment','date',7.78029860577618803674e-01,'[0.7780298605776188]',21);
INSERT INTO "scores" VALUES(10,'S00_0/environment','date_discriminability',9.0909090909090906063e-01,'[0.9090909090909091]',5);
INSERT INTO "scores" VALUES(10,'S00_0/environment','date_similarity',6.7999667556413312397e-01,'[0.6799966755641331]',13);
INSERT INTO "scores" VALUES(10,'S00_0/environment','rouge_l',1.0,'[1.0]',31);
INSERT INTO "scores" VALUES(10,'S00_0/long','date',5.64079696363471105869e-01,'[0.5640796963634711]',22);
INSERT INTO "scores" VALUES(10,'S00_0/long','date_discriminability',8.18181818181818121261e-01,'[0.8181818181818181]',6);
INSERT INTO "scores" VALUES(10,'S00_0/long','date_similarity',4.30408154364450901141e-01,'[0.4304081543644509]',14);
INSERT INTO "scores" VALUES(10,'S00_0/long','rouge_l',1.0,'[1.0]',31);
INSERT INTO "scores" VALUES(10,'S00_0/music','date',0.0,'[0.0]',23);
INSERT INTO "scores" VALUES(10,'S00_0/music','date_discriminability',0.0,'[0.0]',7);
INSERT INTO "scores" VALUES(10,'S00_0/music','date_similarity',5.90999549620667141703e-01,'[0.5909995496206671]',15);
INSERT INTO "scores" VALUES(10,'S00_0/music','rouge_l',1.0,'[1.0]',31);
INSERT INTO "scores" VALUES(10,'S00_0/short','date',8.38838746999514661695e-01,'[0.8388387469995147]',25);
INSERT INTO "scores" VALUES(10,'S00_0/short','date_discriminability',9.0909090909090906063e-01,'[0.9090909090909091]',9);
INSERT INTO "scores" VALUES(10,'S00_0/short','date_similarity',7.78665517253161354461e-01,'[0.7786655172531614]',17);
INSERT INTO "scores" VALUES(10,'S00_0/short','rouge_l',1.0,'[1.0]',31);
INSERT INTO "scores" VALUES(10,'S00_0/sound','date',0.0,'[0.0]',27);
INSERT INTO "scores" VALUES(10,'S00_0/sound','date_discriminability',0.0,'[0.0]',11);
INSERT INTO "scores" VALUES(10,'S00_0/sound','date_similarity',5.92975421720226880673e-01,'[0.5929754217202269]',19);
INSERT INTO "scores" VALUES(10,'S00_0/sound','rouge_l',1.0,'[1.0]',31);
INSERT INTO "scores" VALUES(10,'S00_0/speech','rouge_l',1.0,'[1.0]',31);
INSERT INTO "scores" VALUES(10,'S0A_0/environment','date',5.35778663257923226659e-01,'[0.5357786632579232]',21);
INSERT INTO "scores" VALUES(10,'S0A_0/environment','date_discriminability',7.27272727272727292913e-01,'[0.7272727272727273]',5);
INSERT INTO "scores" VALUES(10,'S0A_0/environment','date_similarity',0.424108939653851,'[0.424108939653851]',13);
INSERT INTO "scores" VALUES(10,'S0A_0/environment','rouge_l',1.0,'[1.0]',31);
INSERT INTO "scores" VALUES(10,'S0A_0/long','date',6.22192487966295670887e-01,'[0.6221924879662957]',22);
INSERT INTO "scores" VALUES(10,'S0A_0/long','date_discriminability',8.18181818181818121261e-01,'[0.8181818181818181]',6);
INSERT INTO "scores" VALUES(10,'S0A_0/long','date_similarity',5.01953325992159249402e-01,'[0.5019533259921592]',14);
INSERT INTO "scores" VALUES(10,'S0A_0/long','rouge_l',1.0,'[1.0]',31);
INSERT INTO "scores" VALUES(10,'S0A_0/music','date',7.16630012144894856796e-01,'[0.7166300121448949]',23);
INSERT INTO "scores" VALUES(10,'S0A_0/music','date_discriminability',8.57142857142857206298e-01,'[0.8571428571428572]',7);
INSERT INTO "scores" VALUES(10,'S0A_0/music','date_similarity',6.1569767486528481637e-01,'[0.6156976748652848]',15);
INSERT INTO "scores" VALUES(10,'S0A_0/music','rouge_l',1.0,'[1.0]',31);
INSERT INTO "scores" VALUES(10,'S0A_0/short','date',5.05843277905169363962e-01,'[0.5058432779051694]',25);
INSERT INTO "scores" VALUES(10,'S0A_0/short','date_discriminability',6.36363636363636353543e-01,'[0.6363636363636364]',9);
INSERT INTO "scores" VALUES(10,'S0A_0/short','date_similarity',4.19750927038850862871e-01,'[0.41975092703885086]',17);
INSERT INTO "scores" VALUES(10,'S0A_0/short','rouge_l',1.0,'[1.0]',31);
INSERT INTO "scores" VALUES(10,'S0A_0/sound','date',3.96624562137821934371e-01,'[0.39662456213782193]',27);
INSERT INTO "scores" VALUES(10,'S0A_0/sound','date[null=out]',0.0,'[0.0]',26);
INSERT INTO "scores" VALUES(10,'S0A_0/sound','date_discriminability',5.71428571428571396851e-01,'[0.5714285714285714]',11);
INSERT INTO "scores" VALUES(10,'S0A_0/sound','date_discriminability[null=out]',0.0,'[0.0]',10);
INSERT INTO "scores" VALUES(10,'S0A_0/sound','date_similarity',3.03715775472345572705e-01,'[0.3037157754723456]',19);
INSERT INTO "scores" VALUES(10,'S0A_0/sound','date_similarity[null=out]',2.98192211165924758731e-01,'[0.29819221116592476]',18);
INSERT INTO "scores" VALUES(10,'S0A_0/sound','rouge_l',1.0,'[1.0]',31);
INSERT INTO "scores" VALUES(10,'S0A_0/sound','rouge_l[null=out]',1.0,'[1.0]',30);
INSERT INTO "scores" VALUES(10,'S0A_0/speech','date',6.87112971613561329676e-01,'[0.6871129716135613]',28);
INSERT INTO "scores" VALUES(10,'S0A_0/speech','date_discriminability',8.57142857142857206298e-01,'[0.8571428571428572]',12);
INSERT INTO "scores" VALUES(10,'S0A_0/speech','date_similarity',0.573373835969035,'[0.573373835969035]',20);
INSERT INTO "scores" VALUES(10,'S0A_0/speech','rouge_l',1.0,'[1.0]',31);
INSERT INTO "scores" VALUES(10,'SM0_0/environment','date',5.06082758838641177945e-01,'[0.5060827588386412]',21);
INSERT INTO "scores" VALUES(10,'SM0_0/environment','date_discriminability',6.36363636363636353543e-01,'[0.6363636363636364]',5);
INSERT INTO "scores" VALUES(10,'SM0_0/environment','date_similarity',4.20080831312493518936e-01,'[0.4200808313124935]',13);
INSERT INTO "scores" VALUES(10,'SM0_0/environment','rouge_l',1.0,'[1.0]',31);
INSERT INTO "scores" VALUES(10,'SM0_0/long','date',6.7778065942312015757e-01,'[0.6777806594231202]',22);
INSERT INTO "scores" VALUES(10,'SM0_0/long','date_discriminability',9.0909090909090906063e-01,'[0.9090909090909091]',6);
INSERT INTO "scores" VALUES(10,'SM0_0/long','date_similarity',5.40304813886616552843e-01,'[0.5403048138866166]',14);
INSERT INTO "scores" VALUES(10,'SM0_0/long','rouge_l',1.0,'[1.0]',31);
INSERT INTO "scores" VALUES(10,'SM0_0/music','date',5.70791392692629129257e-01,'[0.5707913926926291]',23);
INSERT INTO "scores" VALUES(10,'SM0_0/music','date_discriminability',7.14285714285714301575e-01,'[0.7142857142857143]',7);
INSERT INTO "scores" VALUES(10,'SM0_0/music','date_similarity',4.75306163100302714319e-01,'[0.4753061631003027]',15);
INSERT INTO "scores" VALUES(10,'SM0_0/music','rouge_l',1.0,'[1.0]',31);
INSERT INTO "scores" VALUES(10,'SM0_0/short','date',0.521474486003296,'[0.521474486003296]',25);
INSERT INTO "scores" VALUES(10,'SM0_0/short','date_discriminability',7.27272727272727292913e-01,'[0.7272727272727273]',9);
INSERT INTO "scores" VALUES(10,'SM0_0/short','date_similarity',4.06458012761143128166e-01,'[0.40645801276114313]',17);
INSERT INTO "scores" VALUES(10,'SM0_0/short','rouge_l',1.0,'[1.0]',31);
INSERT INTO "scores" VALUES(10,'SM0_0/sound','date',5.00493201947885268943e-01,'[0.5004932019478853]',27);
INSERT INTO "scores" VALUES(10,'SM0_0/sound','date_discriminability',4.28571428571428603149e-01,'[0.4285714285714286]',11);
INSERT INTO "scores" VALUES(10,'SM0_0/sound','date_similarity',6.01422385875665876931e-01,'[0.6014223858756659]',19);
INSERT INTO "scores" VALUES(10,'SM0_0/sound','rouge_l',1.0,'[1.0]',31);
INSERT INTO "scores" VALUES(10,'SM0_0/speech','date',4.42012714675014961596e-01,'[0.44201271467501496]',28);
INSERT INTO "scores" VALUES(10,'SM0_0/speech','date_discriminability',5.71428571428571396851e-01,'[0.5714285714285714]',12);
INSERT INTO "scores" VALUES(10,'SM0_0/speech','date_similarity',3.60391955680028797104e-01,'[0.3603919556800288]',20);
INSERT INTO "scores" VALUES(10,'SM0_0/speech','rouge_l',1.0,'[1.0]',31);
INSERT INTO "scores" VALUES(10,'SM0_1/environment','date',6.23238015728419747497e-01,'[0.6232380157284197]',21);
INSERT INTO "scores" VALUES(10,'SM0_1/environment','date_discriminability',8.18181818181818121261e-01,'[0.8181818181818181]',5);
INSERT INTO "scores" VALUES(10,'SM0_1/environment','date_similarity',5.03315682164855893177e-01,'[0.5033156821648559]',13);
INSERT INTO "scores" VALUES(10,'SM0_1/environment','rouge_l',1.0,'[1.0]',31);
INSERT INTO "scores" VALUES(10,'SM0_1/long','date',4.19851169184706718429e-01,'[0.4198511691847067]',22);
INSERT INTO "scores" VALUES(10,'SM0_1/long','date_discriminability',4.54545454545454585826e-01,'[0.4545454545454546]',6);
INSERT INTO "scores" VALUES(10,'SM0_1/long','date_similarity',3.90077552929554316474e-01,'[0.3900775529295543]',14);
INSERT INTO "scores" VALUES(10,'SM0_1/long','rouge_l',1.0,'[1.0]',31);
INSERT INTO "scores" VALUES(10,'SM0_1/music','date',0.624418091341462,'[0.624418091341462]',23);
INSERT INTO "scores" VALUES(10,'SM0_1/music','date_discriminability',8.57142857142857206298e-01,'[0.8571428571428572]',7);
INSERT INTO "scores" VALUES(10,'SM0_1/music','date_similarity',4.91083041276368814643e-01,'[0.4910830412763688]',15);
INSERT INTO "scores" VALUES(10,'SM0_1/music','rouge_l',1.0,'[1.0]',31);
INSERT INTO "scores" VALUES(10,'SM0_1/short','date',5.87925652805255105626e-01,'[0.5879256528052551]',25);
INSERT INTO "scores" VALUES(10,'SM0_1/short','date_discriminability',8.18181818181818121261e-01,'[0.8181818181818181]',9);
INSERT INTO "scores" VALUES(10,'SM0_1/short','date_similarity',4.58806421659131324908e-01,'[0.4588064216591313]',17);
INSERT INTO "scores" VALUES(10,'SM0_1/short','rouge_l',1.0,'[1.0]',31);
INSERT INTO "scores" VALUES(10,'SM0_1/sound','date',5.00493201947885268943e-01,'[0.5004932019478853]',27);
INSERT INTO "scores" VALUES(10,'SM0_1/sound','date_discriminability',4.28571428571428603149e-01,'[0.4285714285714286]',11);
INSERT INTO "scores" VALUES(10,'SM0_1/sound','date_similarity',6.01422385875665876931e-01,'[0.6014223858756659]',19);
INSERT INTO "scores" VALUES(10,'SM0_1/sound','rouge_l',1.0,'[1.0]',31);
INSERT INTO "scores" VALUES(10,'SM0_1/speech','date',8.50158382723908312428e-01,'[0.8501583827239083]',28);
INSERT INTO "scores" VALUES(10,'SM0_1/speech','date_discriminability',8.57142857142857206298e-01,'[0.8571428571428572]',12);
INSERT INTO "scores" VALUES(10,'SM0_1/speech','date_similarity',8.43286815005458656458e-01,'[0.8432868150054587]',20);
INSERT INTO "scores" VALUES(10,'SM0_1/speech','rouge_l',1.0,'[1.0]',31);
INSERT INTO "scores" VALUES(10,'SM0_2/environment','date',0.498261702228392,'[0.498261702228392]',21);
INSERT INTO "scores" VALUES(10,'SM0_2/environment','date_discriminability',6.36363636363636353543e-01,'[0.6363636363636364]',5);
INSERT INTO "scores" VALUES(10,'SM0_2/environment','date_similarity',4.09412168557147126968e-01,'[0.4094121685571471]',13);
INSERT INTO "scores" VALUES(10,'SM0_2/environment','rouge_l',1.0,'[1.0]',31);
INSERT INTO "scores" VALUES(10,'SM0_2/long','date',5.27769440865137884344e-01,'[0.5277694408651379]',22);
INSERT INTO "scores" VALUES(10,'SM0_2/long','date_discriminability',9.0909090909090906063e-01,'[0.9090909090909091]',6);
INSERT INTO "scores" VALUES(10,'SM0_2/long','date_similarity',3.7181168533440334123e-01,'[0.37181168533440334]',14);
INSERT INTO "scores" VALUES(10,'SM0_2/long','rouge_l',1.0,'[1.0]',31);
INSERT INTO "scores" VALUES(10,'SM0_2/music','date',7.90289842964504329892e-01,'[0.7902898429645043]',23);
INSERT INTO "scores" VALUES(10,'SM0_2/music','date_discriminability',8.57142857142857206298e-01,'[0.8571428571428572]',7);
INSERT INTO "scores" VALUES(10,'SM0_2/music','date_similarity',7.33110736740611113049e-01,'[0.7331107367406111]',15);
INSERT INTO "scores" VALUES(10,'SM0_2/music','rouge_l',1.0,'[1.0]',31);
INSERT INTO "scores" VALUES(10,'SM0_2/short','date',4.40432008388612350469e-01,'[0.44043200838861235]',25);
INSERT INTO "scores" VALUES(10,'SM0_2/short','date_discriminability',6.36363636363636353543e-01,'[0.6363636363636364]',9);
INSERT INTO "scores" VALUES(10,'SM0_2/short','date_similarity',0.336749380223643,'[0.336749380223643]',17);
INSERT INTO "scores" VALUES(10,'SM0_2/short','rouge_l',1.0,'[1.0]',31);
INSERT INTO "scores" VALUES(10,'SM0_2/sound','date',5.00493201947885268943e-01,'[0.5004932019478853]',27);
INSERT INTO "scores" VALUES(10,'SM0_2/sound','date_discriminability',4.28571428571428603149e-01,'[0.4285714285714286]',11);
INSERT INTO "scores" VALUES(10,'SM0_2/sound','date_similarity',6.01422385875665876931e-01,'[0.6014223858756659]',19);
INSERT INTO "scores" VALUES(10,'SM0_2/sound','rouge_l',1.0,'[1.0]',31);
INSERT INTO "scores" VALUES(10,'SM0_2/speech','date',5.07660139611627703182e-01,'[0.5076601396116277]',28);
INSERT INTO "scores" VALUES(10,'SM0_2/speech','date_discriminability',8.57142857142857206298e-01,'[0.8571428571428572]',12);
INSERT INTO "scores" VALUES(10,'SM0_2/speech','date_similarity',3.60623271756679186772e-01,'[0.3606232717566792]',20);
INSERT INTO "scores" VALUES(10,'SM0_2/speech','rouge_l',1.0,'[1.0]',31);
INSERT INTO "scores" VALUES(10,'SM0_3/environment','date',4.51426260687111891023e-01,'[0.4514262606871119]',21);
INSERT INTO "scores" VALUES(10,'SM0_3/environment','date_discriminability',6.36363636363636353543e-01,'[0.6363636363636364]',5);
INSERT INTO "scores" VALUES(10,'SM0_3/environment','date_similarity',3.49775846601345807851e-01,'[0.3497758466013458]',13);
INSERT INTO "scores" VALUES(10,'SM0_3/environment','rouge_l',1.0,'[1.0]',31);
INSERT INTO "scores" VALUES(10,'SM0_3/long','date',5.94112656698161267776e-01,'[0.5941126566981613]',22);
INSERT INTO "scores" VALUES(10,'SM0_3/long','date_discriminability',8.18181818181818121261e-01,'[0.8181818181818181]',6);
INSERT INTO "scores" VALUES(10,'SM0_3/long','date_similarity',4.66386871440648609344e-01,'[0.4663868714406486]',14);
INSERT INTO "scores" VALUES(10,'SM0_3/long','rouge_l',1.0,'[1.0]',31);
INSERT INTO "scores" VALUES(10,'SM0_3/music','date',4.26793493826848835404e-01,'[0.42679349382684884]',23);
INSERT INTO "scores" VALUES(10,'SM0_3/music','date_discriminability',8.57142857142857206298e-01,'[0.8571428571428572]',7);
INSERT INTO "scores" VALUES(10,'SM0_3/music','date_similarity',2.84136081675388507684e-01,'[0.2841360816753885]',15);
INSERT INTO "scores" VALUES(10,'SM0_3/music','rouge_l',1.0,'[1.0]',31);
INSERT INTO "scores" VALUES(10,'SM0_3/short','date',4.33735625420780146477e-01,'[0.43373562542078015]',25);
INSERT INTO "scores" VALUES(10,'SM0_3/short','date_discriminability',5.45454545454545414174e-01,'[0.5454545454545454]',9);
INSERT INTO "scores" VALUES(10,'SM0_3/short','date_similarity',3.60000944705736514173e-01,'[0.3600009447057365]',17);
INSERT INTO "scores" VALUES(10,'SM0_3/short','rouge_l',1.0,'[1.0]',31);
INSERT INTO "scores" VALUES(10,'SM0_3/sound','date',5.00493201947885268943e-01,'[0.5004932019478853]',27);
INSERT INTO "scores" VALUES(10,'SM0_3/sound','date_discriminability',4.28571428571428603149e-01,'[0.4285714285714286]',11);
INSERT INTO "scores" VALUES(10,'SM0_3/sound','date_similarity',6.01422385875665876931e-01,'[0.6014223858756659]',19);
INSERT INTO "scores" VALUES(10,'SM0_3/sound','rouge_l',1.0,'[1.0]',31);
INSERT INTO "scores" VALUES(10,'SM0_3/speech','date',5.02248993840792579135e-01,'[0.5022489938407926]',28);
INSERT INTO "scores" VALUES(10,'SM0_3/speech','date_discriminability',8.57142857142857206298e-01,'[0.8571428571428572]',12);
INSERT INTO "scores" VALUES(10,'SM0_3/speech','date_similarity',3.55186547004773811587e-01,'[0.3551865470047738]',20);
INSERT INTO "scores" VALUES(10,'SM0_3/speech','rouge_l',1.0,'[1.0]',31);
INSERT INTO "scores" VALUES(10,'SMA_0/environment','date',6.71075552950189613277e-01,'[0.6710755529501896]',21);
INSERT INTO "scores" VALUES(10,'SMA_0/environment','date_discriminability',9.0909090909090906063e-01,'[0.9090909090909091]',5);
INSERT INTO "scores" VALUES(10,'SMA_0/environment','date_similarity',5.31832754288884324012e-01,'[0.5318327542888843]',13);
INSERT INTO "scores" VALUES(10,'SMA_0/environment','rouge_l',1.0,'[1.0]',31);
INSERT INTO "scores" VALUES(10,'SMA_0/long','date',0.345001474600008,'[0.345001474600008]',22);
INSERT INTO "scores" VALUES(10,'SMA_0/long','date_discriminability',4.54545454545454585826e-01,'[0.4545454545454546]',6);
INSERT INTO "scores" VALUES(10,'SMA_0/long','date_similarity',2.78003526572774772863e-01,'[0.2780035265727748]',14);
INSERT INTO "scores" VALUES(10,'SMA_0/long','rouge_l',1.0,'[1.0]',31);
INSERT INTO "scores" VALUES(10,'SMA_0/music','date',5.43026828114337445363e-01,'[0.5430268281143374]',23);
INSERT INTO "scores" VALUES(10,'SMA_0/music','date_discriminability',8.57142857142857206298e-01,'[0.8571428571428572]',7);
INSERT INTO "scores" VALUES(10,'SMA_0/music','date_similarity',3.97394267356740604757e-01,'[0.3973942673567406]',15);
INSERT INTO "scores" VALUES(10,'SMA_0/music','rouge_l',1.0,'[1.0]',31);
INSERT INTO "scores" VALUES(10,'SMA_0/short','date',4.54625803058380406618e-01,'[0.4546258030583804]',25);
INSERT INTO "scores" VALUES(10,'SMA_0/short','date_discriminability',8.18181818181818121261e-01,'[0.8181818181818181]',9);
INSERT INTO "scores" VALUES(10,'SMA_0/short','date_similarity',3.14762340390088712905e-01,'[0.3147623403900887]',17);
INSERT INTO "scores" VALUES(10,'SMA_0/short','rouge_l',1.0,'[1.0]',31);
INSERT INTO "scores" VALUES(10,'SMA_0/sound','date',8.02528241603838843332e-01,'[0.8025282416038388]',27);
INSERT INTO "scores" VALUES(10,'SMA_0/sound','date[null=out]',6.99077852682287392838e-01,'[0.6990778526822874]',26);
INSERT INTO "scores" VALUES(10,'SMA_0/sound','date_discriminability',8.57142857142857206298e-01,'[0.8571428571428572]',11);
INSERT INTO "scores" VALUES(10,'SMA_0/sound','date_discriminability[null=out]',6.66666666666666740682e-01,'[0.6666666666666667]',10);
INSERT INTO "scores" VALUES(10,'SMA_0/sound','date_similarity',7.54456498089112526095e-01,'[0.7544564980891125]',19);
INSERT INTO "scores" VALUES(10,'SMA_0/sound','date_similarity[null=out]',0.734801536613924,'[0.734801536613924]',18);
INSERT INTO "scores" VALUES(10,'SMA_0/sound','rouge_l',1.0,'[1.0]',31);
INSERT INTO "scores" VALUES(10,'SMA_0/sound','rouge_l[null=out]',1.0,'[1.0]',30);
INSERT INTO "scores" VALUES(10,'SMA_0/speech','date',7.7586648235208388602e-01,'[0.7758664823520839]',28);
INSERT INTO "scores" VALUES(10,'SMA_0/speech','date_discriminability',8.57142857142857206298e-01,'[0.8571428571428572]',12);
INSERT INTO "scores" VALUES(10,'SMA_0/speech','date_similarity',7.08668781301870609468e-01,'[0.7086687813018706]',20);
INSERT INTO "scores" VALUES(10,'SMA_0/speech','rouge_l',1.0,'[1.0]',31);
INSERT INTO "scores" VALUES(11,'000_0/environment','date',0.0,'[0.0]',21);
INSERT INTO "scores" VALUES(11,'000_0/environment','date_discriminability',0.0,'[0.0]',5);
INSERT INTO "scores" VALUES(11,'000_0/environment','date_similarity',1.76549578471628734744e-02,'[0.017654957847162873]',13);
INSERT INTO "scores" VALUES(11,'000_0/environment','rouge_l',0.375,'[0.375]',31);
INSERT INTO "scores" VALUES(11,'000_0/long','date',1.77808005610452041223e-01,'[0.17780800561045204]',22);
INSERT INTO "scores" VALUES(11,'000_0/long','date_discriminability',1.81818181818181767717e-01,'[0.18181818181818177]',6);
INSERT INTO "scores" VALUES(11,'000_0/long','date_similarity',1.73970908618272440682e-01,'[0.17397090861827244]',14);
INSERT INTO "scores" VALUES(11,'000_0/long','rouge_l',0.375,'[0.375]',31);
INSERT INTO "scores" VALUES(11,'000_0/music','date',0.0,'[0.0]',23);
INSERT INTO "scores" VALUES(11,'000_0/music','date_discriminability',0.0,'[0.0]',7);
INSERT INTO "scores" VALUES(11,'000_0/music','date_similarity',-4.93981028455022647128e-03,'[-0.0049398102845502265]',15);
INSERT INTO "scores" VALUES(11,'000_0/music','rouge_l',0.0,'[0.0]',31);
INSERT INTO "scores" VALUES(11,'000_0/short','date',0.0,'[0.0]',25);
INSERT INTO "scores" VALUES(11,'000_0/short','date_discriminability',0.0,'[0.0]',9);
INSERT INTO "scores" VALUES(11,'000_0/short','date_similarity',2.29030448967275750138e-02,'[0.022903044896727575]',17);
INSERT INTO "scores" VALUES(11,'000_0/short','rouge_l',0.375,'[0.375]',31);
INSERT INTO "scores" VALUES(11,'000_0/sound','date',0.0,'[0.0]',27);
INSERT INTO "scores" VALUES(11,'000_0/sound','date_discriminability',0.0,'[0.0]',11);
INSERT INTO "scores" VALUES(11,'000_0/sound','date_similarity',8.06300769133775213637e-02,'[0.08063007691337752]',19);
INSERT INTO "scores" VALUES(11,'000_0/sound','rouge_l',0.0,'[0.0]',31);
INSERT INTO "scores" VALUES(11,'000_0/speech','date',0.0,'[0.0]',28);
INSERT INTO "scores" VALUES(11,'000_0/speech','date_discriminability',0.0,'[0.0]',12);
INSERT INTO "scores" VALUES(11,'000_0/speech','date_similarity',4.1036941724920728003e-02,'[0.04103694172492073]',20);
INSERT INTO "scores" VALUES(11,'000_0/speech','rouge_l',0.0,'[0.0]',31);
INSERT INTO "scores" VALUES(11,'00A_0/environment','date',1.77049089110099977518e-01,'[0.17704908911009998]',21);
INSERT INTO "scores" VALUES(11,'00A_0/environment','date_discriminability',1.81818181818181767717e-01,'[0.18181818181818177]',5);
INSERT INTO "scores" VALUES(11,'00A_0/environment','date_similarity',1.72523788432487834577e-01,'[0.17252378843248783]',13);
INSERT INTO "scores" VALUES(11,'00A_0/environment','rouge_l',4.70588235294117640528e-01,'[0.47058823529411764]',31);
INSERT INTO "scores" VALUES(11,'00A_0/long','date',0.0,'[0.0]',22);
INSERT INTO "scores" VALUES(11,'00A_0/long','date_discriminability',0.0,'[0.0]',6);
INSERT INTO "scores" VALUES(11,'00A_0/long','date_similarity',1.16374337750056677798e-01,'[0.11637433775005668]',14);
INSERT INTO "scores" VALUES(11,'00A_0/long','rouge_l',0.375,'[0.375]',31);
INSERT INTO "scores" VALUES(11,'00A_0/music','date',0.0,'[0.0]',23);
INSERT INTO "scores" VALUES(11,'00A_0/music','date_discriminability',0.0,'[0.0]',7);
INSERT INTO "scores" VALUES(11,'00A_0/music','date_similarity',-4.93981028455022647128e-03,'[-0.0049398102845502265]',15);
INSERT INTO "scores" VALUES(11,'00A_0/music','rouge_l',0.0,'[0.0]',31);
INSERT INTO "scores" VALUES(11,'00A_0/short','date',2.19692509396349905382e-01,'[0.2196925093963499]',25);
INSERT INTO "scores" VALUES(11,'00A_0/short','date_discriminability',3.00000000000000044409e-01,'[0.30000000000000004]',9);
INSERT INTO "scores" VALUES(11,'00A_0/short','date_similarity',1.73301221898868373916e-01,'[0.17330122189886837]',17);
INSERT INTO "scores" VALUES(11,'00A_0/short','rouge_l',0.5,'[0.5]',31);
INSERT INTO "scores" VALUES(11,'00A_0/sound','rouge_l',0.375,'[0.375]',31);
INSERT INTO "scores" VALUES(11,'00A_0/speech','date',0.0,'[0.0]',28);
INSERT INTO "scores" VALUES(11,'00A_0/speech','date_discriminability',0.0,'[0.0]',12);
INSERT INTO "scores" VALUES(11,'00A_0/speech','date_similarity',4.1036941724920728003e-02,'[0.04103694172492073]',20);
INSERT INTO "scores" VALUES(11,'00A_0/speech','rouge_l',0.0,'[0.0]',31);
INSERT INTO "scores" VALUES(11,'0M0_0/environment','date',1.70191511445593385288e-01,'[0.17019151144559339]',21);
INSERT INTO "scores" VALUES(11,'0M0_0/environment','date_discriminability',1.81818181818181767717e-01,'[0.18181818181818177]',5);
INSERT INTO "scores" VALUES(11,'0M0_0/environment','date_similarity',1.59962443153617822622e-01,'[0.15996244315361782]',13);
INSERT INTO "scores" VALUES(11,'0M0_0/environment','rouge_l',0.5,'[0.5]',31);
INSERT INTO "scores" VALUES(11,'0M0_0/long','date',0.0,'[0.0]',22);
INSERT INTO "scores" VALUES(11,'0M0_0/long','date_discriminability',0.0,'[0.0]',6);
INSERT INTO "scores" VALUES(11,'0M0_0/long','date_similarity',5.21799152909762226082e-02,'[0.05217991529097622]',14);
INSERT INTO "scores" VALUES(11,'0M0_0/long','rouge_l',0.375,'[0.375]',31);
INSERT INTO "scores" VALUES(11,'0M0_0/music','rouge_l',0.625,'[0.625]',31);
INSERT INTO "scores" VALUES(11,'0M0_0/short','date',4.73118306165528690332e-01,'[0.4731183061655287]',25);
INSERT INTO "scores" VALUES(11,'0M0_0/short','date_discriminability',0.7,'[0.7]',9);
INSERT INTO "scores" VALUES(11,'0M0_0/short','date_similarity',3.57308615024837072927e-01,'[0.3573086150248371]',17);
INSERT INTO "scores" VALUES(11,'0M0_0/short','rouge_l',0.5,'[0.5]',31);
INSERT INTO "scores" VALUES(11,'0M0_0/sound','date',0.0,'[0.0]',27);
INSERT INTO "scores" VALUES(11,'0M0_0/sound','date_discriminability',0.0,'[0.0]',11);
INSERT INTO "scores" VALUES(11,'0M0_0/sound','date_similarity',8.06300769133775213637e-02,'[0.08063007691337752]',19);
INSERT INTO "scores" VALUES(11,'0M0_0/sound','rouge_l',0.0,'[0.0]',31);
INSERT INTO "scores" VALUES(11,'0M0_0/speech','date',0.0,'[0.0]',28);
INSERT INTO "scores" VALUES(11,'0M0_0/speech','date_discriminability',0.0,'[0.0]',12);
INSERT INTO "scores" VALUES(11,'0M0_0/speech','date_similarity',4.1036941724920728003e-02,'[0.04103694172492073]',20);
INSERT INTO "scores" VALUES(11,'0M0_0/speech','rouge_l',0.0,'[0.0]',31);
INSERT INTO "scores" VALUES(11,'0MA_0/environment','date',1.73101083042667136525e-01,'[0.17310108304266714]',21);
INSERT INTO "scores" VALUES(11,'0MA_0/environment','date_discriminability',1.81818181818181767717e-01,'[0.18181818181818177]',5);
INSERT INTO "scores" VALUES(11,'0MA_0/environment','date_similarity',1.65181608841722699088e-01,'[0.1651816088417227]',13);
INSERT INTO "scores" VALUES(11,'0MA_0/environment','rouge_l',0.5,'[0.5]',31);
INSERT INTO "scores" VALUES(11,'0MA_0/long','date',0.0,'[0.0]',22);
INSERT INTO "scores" VALUES(11,'0MA_0/long','date_discriminability',0.0,'[0.0]',6);
INSERT INTO "scores" VALUES(11,'0MA_0/long','date_similarity',1.24285190088505553829e-01,'[0.12428519008850555]',14);
INSERT INTO "scores" VALUES(11,'0MA_0/long','rouge_l',0.375,'[0.375]',31);
INSERT INTO "scores" VALUES(11,'0MA_0/music','date',2.24392043203854252287e-01,'[0.22439204320385425]',23);
INSERT INTO "scores" VALUES(11,'0MA_0/music','date_discriminability',2.85714285714285698425e-01,'[0.2857142857142857]',7);
INSERT INTO "scores" VALUES(11,'0MA_0/music','date_similarity',1.8474139501085548587e-01,'[0.18474139501085549]',15);
INSERT INTO "scores" VALUES(11,'0MA_0/music','rouge_l',0.5,'[0.5]',31);
INSERT INTO "scores" VALUES(11,'0MA_0/short','date',0.0,'[0.0]',25);
INSERT INTO "scores" VALUES(11,'0MA_0/short','date_discriminability',0.0,'[0.0]',9);
INSERT INTO "scores" VALUES(11,'0MA_0/short','date_similarity',3.43335482400514493961e-02,'[0.03433354824005145]',17);
INSERT INTO "scores" VALUES(11,'0MA_0/short','rouge_l',0.375,'[0.375]',31);
INSERT INTO "scores" VALUES(11,'0MA_0/sound','date',0.0,'[0.0]',27);
INSERT INTO "scores" VALUES(11,'0MA_0/sound','date[null=out]',0.0,'[0.0]',26);
INSERT INTO "scores" VALUES(11,'0MA_0/sound','date_discriminability',0.0,'[0.0]',11);
INSERT INTO "scores" VALUES(11,'0MA_0/sound','date_discriminability[null=out]',0.0,'[0.0]',10);
INSERT INTO "scores" VALUES(11,'0MA_0/sound','date_similarity',1.70028091560862570919e-01,'[0.17002809156086257]',19);
INSERT INTO "scores" VALUES(11,'0MA_0/sound','date_similarity[null=out]',1.70143479041583778333e-01,'[0.17014347904158378]',18);
INSERT INTO "scores" VALUES(11,'0MA_0/sound','rouge_l',0.5,'[0.5]',31);
INSERT INTO "scores" VALUES(11,'0MA_0/sound','rouge_l[null=out]',0.5,'[0.5]',30);
INSERT INTO "scores" VALUES(11,'0MA_0/speech','date',0.0,'[0.0]',28);
INSERT INTO "scores" VALUES(11,'0MA_0/speech','date_discriminability',0.0,'[0.0]',12);
INSERT INTO "scores" VALUES(11,'0MA_0/speech','date_similarity',4.42725598083809068761e-02,'[0.04427255980838091]',20);
INSERT INTO "scores" VALUES(11,'0MA_0/speech','rouge_l',0.0,'[0.0]',31);
INSERT INTO "scores" VALUES(11,'S00_0/environment','date',0.0,'[0.0]',21);
INSERT INTO "scores" VALUES(11,'S00_0/environment','date_discriminability',0.0,'[0.0]',5);
INSERT INTO "scores" VALUES(11,'S00_0/environment','date_similarity',3.66342149420292376161e-02,'[0.03663421494202924]',13);
INSERT INTO "scores" VALUES(11,'S00_0/environment','rouge_l',0.375,'[0.375]',31);
INSERT INTO "scores" VALUES(11,'S00_0/long','date',4.43612435580989228345e-01,'[0.44361243558098923]',22);
INSERT INTO "scores" VALUES(11,'S00_0/long','date_discriminability',7.27272727272727292913e-01,'[0.7272727272727273]',6);
INSERT INTO "scores" VALUES(11,'S00_0/long','date_similarity',3.19138083161594199311e-01,'[0.3191380831615942]',14);
INSERT INTO "scores" VALUES(11,'S00_0/long','rouge_l',0.5,'[0.5]',31);
INSERT INTO "scores" VALUES(11,'S00_0/music','date',0.0,'[0.0]',23);
INSERT INTO "scores" VALUES(11,'S00_0/music','date_discriminability',0.0,'[0.0]',7);
INSERT INTO "scores" VALUES(11,'S00_0/music','date_similarity',-4.93981028455022647128e-03,'[-0.0049398102845502265]',15);
INSERT INTO "scores" VALUES(11,'S00_0/music','rouge_l',0.0,'[0.0]',31);
INSERT INTO "scores" VALUES(11,'S00_0/sound','date',0.0,'[0.0]',27);
INSERT INTO "scores" VALUES(11,'S00_0/sound','date_discriminability',0.0,'[0.0]',11);
INSERT INTO "scores" VALUES(11,'S00_0/sound','date_similarity',8.06300769133775213637e-02,'[0.08063007691337752]',19);
INSERT INTO "scores" VALUES(11,'S00_0/sound','rouge_l',0.0,'[0.0]',31);
INSERT INTO "scores" VALUES(11,'S00_0/speech','rouge_l',0.5,'[0.5]',31);
INSERT INTO "scores" VALUES(11,'S0A_0/environment','date',4.98111069568040742972e-01,'[0.49811106956804074]',21);
INSERT INTO "scores" VALUES(11,'S0A_0/environment','date_discriminability',8.18181818181818121261e-01,'[0.8181818181818181]',5);
INSERT INTO "scores" VALUES(11,'S0A_0/environment','date_similarity',0.358044806964934,'[0.358044806964934]',13);
INSERT INTO "scores" VALUES(11,'S0A_0/environment','rouge_l',0.625,'[0.625]',31);
INSERT INTO "scores" VALUES(11,'S0A_0/long','date',3.45716909361529045608e-01,'[0.34571690936152905]',22);
INSERT INTO "scores" VALUES(11,'S0A_0/long','date_discriminability',5.45454545454545414174e-01,'[0.5454545454545454]',6);
INSERT INTO "scores" VALUES(11,'S0A_0/long','date_similarity',2.53052654497969209402e-01,'[0.2530526544979692]',14);
INSERT INTO "scores" VALUES(11,'S0A_0/long','rouge_l',0.5,'[0.5]',31);
INSERT INTO "scores" VALUES(11,'S0A_0/music','date',0.0,'[0.0]',23);
INSERT INTO "scores" VALUES(11,'S0A_0/music','date_discriminability',0.0,'[0.0]',7);
INSERT INTO "scores" VALUES(11,'S0A_0/music','date_similarity',-7.10054937006598940741e-03,'[-0.007100549370065989]',15);
INSERT INTO "scores" VALUES(11,'S0A_0/music','rouge_l',0.0,'[0.0]',31);
INSERT INTO "scores" VALUES(11,'S0A_0/short','date',0.0,'[0.0]',25);
INSERT INTO "scores" VALUES(11,'S0A_0/short','date_discriminability',0.0,'[0.0]',9);
INSERT INTO "scores" VALUES(11,'S0A_0/short','date_similarity',9.43666427256888151742e-02,'[0.09436664272568882]',17);
INSERT INTO "scores" VALUES(11,'S0A_0/short','rouge_l',0.375,'[0.375]',31);
INSERT INTO "scores" VALUES(11,'S0A_0/sound','date',0.0,'[0.0]',27);
INSERT INTO "scores" VALUES(11,'S0A_0/sound','date[null=out]',0.0,'[0.0]',26);
INSERT INTO "scores" VALUES(11,'S0A_0/sound','date_discriminability',0.0,'[0.0]',11);
INSERT INTO "scores" VALUES(11,'S0A_0/sound','date_discriminability[null=out]',0.0,'[0.0]',10);
INSERT INTO "scores" VALUES(11,'S0A_0/sound','date_similarity',1.73728786708471083511e-01,'[0.17372878670847108]',19);
INSERT INTO "scores" VALUES(11,'S0A_0/sound','date_similarity[null=out]',1.73296842271948137171e-01,'[0.17329684227194814]',18);
INSERT INTO "scores" VALUES(11,'S0A_0/sound','rouge_l',0.5,'[0.5]',31);
INSERT INTO "scores" VALUES(11,'S0A_0/sound','rouge_l[null=out]',0.5,'[0.5]',30);
INSERT INTO "scores" VALUES(11,'S0A_0/speech','date',1.728835248027311422e-01,'[0.17288352480273114]',28);
INSERT INTO "scores" VALUES(11,'S0A_0/speech','date_discriminability',1.42857142857142904724e-01,'[0.1428571428571429]',12);
INSERT INTO "scores" VALUES(11,'S0A_0/speech','date_similarity',2.18891073682912218334e-01,'[0.21889107368291222]',20);
INSERT INTO "scores" VALUES(11,'S0A_0/speech','rouge_l',0.5,'[0.5]',31);
INSERT INTO "scores" VALUES(11,'SM0_0/environment','date',2.95210366091901876828e-01,'[0.2952103660919019]',21);
INSERT INTO "scores" VALUES(11,'SM0_0/environment','date_discriminability',3.63636363636363646457e-01,'[0.36363636363636365]',5);
INSERT INTO "scores" VALUES(11,'SM0_0/environment','date_similarity',2.48457708142023059317e-01,'[0.24845770814202306]',13);
INSERT INTO "scores" VALUES(11,'SM0_0/environment','rouge_l',0.5,'[0.5]',31);
INSERT INTO "scores" VALUES(11,'SM0_0/long','date',0.0,'[0.0]',22);
INSERT INTO "scores" VALUES(11,'SM0_0/long','date_discriminability',0.0,'[0.0]',6);
INSERT INTO "scores" VALUES(11,'SM0_0/long','date_similarity',1.15233448431686841262e-01,'[0.11523344843168684]',14);
INSERT INTO "scores" VALUES(11,'SM0_0/long','rouge_l',0.375,'[0.375]',31);
INSERT INTO "scores" VALUES(11,'SM0_0/music','date',2.95169732982116239661e-01,'[0.29516973298211624]',23);
INSERT INTO "scores" VALUES(11,'SM0_0/music','date_discriminability',4.28571428571428603149e-01,'[0.4285714285714286]',7);
INSERT INTO "scores" VALUES(11,'SM0_0/music','date_similarity',2.2510207107165780549e-01,'[0.2251020710716578]',15);
INSERT INTO "scores" VALUES(11,'SM0_0/music','rouge_l',0.5,'[0.5]',31);
INSERT INTO "scores" VALUES(11,'SM0_0/short','date',3.98203170700939523829e-01,'[0.3982031707009395]',25);
INSERT INTO "scores" VALUES(11,'SM0_0/short','date_discriminability',0.6,'[0.6]',9);
INSERT INTO "scores" VALUES(11,'SM0_0/short','date_similarity',2.9798309707639014654e-01,'[0.29798309707639015]',17);
INSERT INTO "scores" VALUES(11,'SM0_0/short','rouge_l',0.5,'[0.5]',31);
INSERT INTO "scores" VALUES(11,'SM0_0/sound','date',0.0,'[0.0]',27);
INSERT INTO "scores" VALUES(11,'SM0_0/sound','date_discriminability',0.0,'[0.0]',11);
INSERT INTO "scores" VALUES(11,'SM0_0/sound','date_similarity',8.41941926899531511985e-02,'[0.08419419268995315]',19);
INSERT INTO "scores" VALUES(11,'SM0_0/sound','rouge_l',0.0,'[0.0]',31);
INSERT INTO "scores" VALUES(11,'SM0_0/speech','date',1.47610637285757934078e-01,'[0.14761063728575793]',28);
INSERT INTO "scores" VALUES(11,'SM0_0/speech','date_discriminability',1.42857142857142904724e-01,'[0.1428571428571429]',12);
INSERT INTO "scores" VALUES(11,'SM0_0/speech','date_similarity',1.5269135998878843874e-01,'[0.15269135998878844]',20);
INSERT INTO "scores" VALUES(11,'SM0_0/speech','rouge_l',0.375,'[0.375]',31);
INSERT INTO "scores" VALUES(11,'SM0_1/environment','date',0.0,'[0.0]',21);
INSERT INTO "scores" VALUES(11,'SM0_1/environment','date_discriminability',0.0,'[0.0]',5);
INSERT INTO "scores" VALUES(11,'SM0_1/environment','date_similarity',1.12491963701768477035e-01,'[0.11249196370176848]',13);
INSERT INTO "scores" VALUES(11,'SM0_1/environment','rouge_l',0.5,'[0.5]',31);
INSERT INTO "scores" VALUES(11,'SM0_1/long','date',0.0,'[0.0]',22);
INSERT INTO "scores" VALUES(11,'SM0_1/long','date_discriminability',0.0,'[0.0]',6);
INSERT INTO "scores" VALUES(11,'SM0_1/long','date_similarity',6.91586813164329489156e-02,'[0.06915868131643295]',14);
INSERT INTO "scores" VALUES(11,'SM0_1/long','rouge_l',0.375,'[0.375]',31);
INSERT INTO "scores" VALUES(11,'SM0_1/music','date',1.92063690516300900057e-01,'[0.1920636905163009]',23);
INSERT INTO "scores" VALUES(11,'SM0_1/music','date_discriminability',2.85714285714285698425e-01,'[0.2857142857142857]',7);
INSERT INTO "scores" VALUES(11,'SM0_1/music','date_similarity',1.4465055388246297885e-01,'[0.14465055388246298]',15);
INSERT INTO "scores" VALUES(11,'SM0_1/music','rouge_l',0.375,'[0.375]',31);
INSERT INTO "scores" VALUES(11,'SM0_1/short','date',0.0,'[0.0]',25);
INSERT INTO "scores" VALUES(11,'SM0_1/short','date_discriminability',0.0,'[0.0]',9);
INSERT INTO "scores" VALUES(11,'SM0_1/short','date_similarity',8.4289833797559290951e-02,'[0.08428983379755929]',17);
INSERT INTO "scores" VALUES(11,'SM0_1/short','rouge_l',0.375,'[0.375]',31);
INSERT INTO "scores" VALUES(11,'SM0_1/sound','date',0.0,'[0.0]',27);
INSERT INTO "scores" VALUES(11,'SM0_1/sound','date_discriminability',0.0,'[0.0]',11);
INSERT INTO "scores" VALUES(11,'SM0_1/sound','date_similarity',8.41941926899531511985e-02,'[0.08419419268995315]',19);
INSERT INTO "scores" VALUES(11,'SM0_1/sound','rouge_l',0.0,'[0.0]',31);
INSERT INTO "scores" VALUES(11,'SM0_1/speech','date',0.0,'[0.0]',28);
INSERT INTO "scores" VALUES(11,'SM0_1/speech','date_discriminability',0.0,'[0.0]',12);
INSERT INTO "scores" VALUES(11,'SM0_1/speech','date_similarity',1.47634993362887295687e-01,'[0.1476349933628873]',20);
INSERT INTO "scores" VALUES(11,'SM0_1/speech','rouge_l',0.375,'[0.375]',31);
INSERT INTO "scores" VALUES(11,'SM0_2/environment','date',3.0795855232932728418e-01,'[0.3079585523293273]',21);
INSERT INTO "scores" VALUES(11,'SM0_2/environment','date_discriminability',3.63636363636363646457e-01,'[0.36363636363636365]',5);
INSERT INTO "scores" VALUES(11,'SM0_2/environment','date_similarity',2.67066879231715348375e-01,'[0.26706687923171535]',13);
INSERT INTO "scores" VALUES(11,'SM0_2/environment','rouge_l',0.5,'[0.5]',31);
INSERT INTO "scores" VALUES(11,'SM0_2/long','date',1.88230492675418359383e-01,'[0.18823049267541836]',22);
INSERT INTO "scores" VALUES(11,'SM0_2/long','date_discriminability',1.81818181818181767717e-01,'[0.18181818181818177]',6);
INSERT INTO "scores" VALUES(11,'SM0_2/long','date_similarity',0.195111633114066,'[0.195111633114066]',14);
INSERT INTO "scores" VALUES(11,'SM0_2/long','rouge_l',0.5,'[0.5]',31);
INSERT INTO "scores" VALUES(11,'SM0_2/music','date',5.4927401437824385777e-01,'[0.5492740143782439]',23);
INSERT INTO "scores" VALUES(11,'SM0_2/music','date_discriminability',8.57142857142857206298e-01,'[0.8571428571428572]',7);
INSERT INTO "scores" VALUES(11,'SM0_2/music','date_similarity',4.04121519188080147167e-01,'[0.40412151918808015]',15);
INSERT INTO "scores" VALUES(11,'SM0_2/music','rouge_l',0.625,'[0.625]',31);
INSERT INTO "scores" VALUES(11,'SM0_2/short','date',0.0,'[0.0]',25);
INSERT INTO "scores" VALUES(11,'SM0_2/short','date_discriminability',0.0,'[0.0]',9);
INSERT INTO "scores" VALUES(11,'SM0_2/short','date_similarity',1.03221387247635187911e-01,'[0.10322138724763519]',17);
INSERT INTO "scores" VALUES(11,'SM0_2/short','rouge_l',0.375,'[0.375]',31);
INSERT INTO "scores" VALUES(11,'SM0_2/sound','date',0.0,'[0.0]',27);
INSERT INTO "scores" VALUES(11,'SM0_2/sound','date_discriminability',0.0,'[0.0]',11);
INSERT INTO "scores" VALUES(11,'SM0_2/sound','date_similarity',8.41941926899531511985e-02,'[0.08419419268995315]',19);
INSERT INTO "scores" VALUES(11,'SM0_2/sound','rouge_l',0.0,'[0.0]',31);
INSERT INTO "scores" VALUES(11,'SM0_2/speech','date',1.72822989609991511939e-01,'[0.1728229896099915]',28);
INSERT INTO "scores" VALUES(11,'SM0_2/speech','date_discriminability',1.42857142857142904724e-01,'[0.1428571428571429]',12);
INSERT INTO "scores" VALUES(11,'SM0_2/speech','date_similarity',2.18697095061289925599e-01,'[0.21869709506128993]',20);
INSERT INTO "scores" VALUES(11,'SM0_2/speech','rouge_l',0.5,'[0.5]',31);
INSERT INTO "scores" VALUES(11,'SM0_3/environment','date',0.0,'[0.0]',21);
INSERT INTO "scores" VALUES(11,'SM0_3/environment','date_discriminability',0.0,'[0.0]',5);
INSERT INTO "scores" VALUES(11,'SM0_3/environment','date_similarity',9.81949756829030573346e-02,'[0.09819497568290306]',13);
INSERT INTO "scores" VALUES(11,'SM0_3/environment','rouge_l',0.375,'[0.375]',31);
INSERT INTO "scores" VALUES(11,'SM0_3/long','date',0.0,'[0.0]',22);
INSERT INTO "scores" VALUES(11,'SM0_3/long','date_discriminability',0.0,'[0.0]',6);
INSERT INTO "scores" VALUES(11,'SM0_3/long','date_similarity',1.21190705513304325391e-01,'[0.12119070551330433]',14);
INSERT INTO "scores" VALUES(11,'SM0_3/long','rouge_l',0.5,'[0.5]',31);
INSERT INTO "scores" VALUES(11,'SM0_3/music','date',0.0,'[0.0]',23);
INSERT INTO "scores" VALUES(11,'SM0_3/music','date_discriminability',0.0,'[0.0]',7);
INSERT INTO "scores" VALUES(11,'SM0_3/music','date_similarity',6.56377954603232227626e-02,'[0.06563779546032322]',15);
INSERT INTO "scores" VALUES(11,'SM0_3/music','rouge_l',0.375,'[0.375]',31);
INSERT INTO "scores" VALUES(11,'SM0_3/short','date',4.37363647769699104284e-01,'[0.4373636477696991]',25);
INSERT INTO "scores" VALUES(11,'SM0_3/short','date_discriminability',0.6,'[0.6]',9);
INSERT INTO "scores" VALUES(11,'SM0_3/short','date_similarity',3.44093469835771048615e-01,'[0.34409346983577105]',17);
INSERT INTO "scores" VALUES(11,'SM0_3/short','rouge_l',0.625,'[0.625]',31);
INSERT INTO "scores" VALUES(11,'SM0_3/sound','date',0.0,'[0.0]',27);
INSERT INTO "scores" VALUES(11,'SM0_3/sound','date_discriminability',0.0,'[0.0]',11);
INSERT INTO "scores" VALUES(11,'SM0_3/sound','date_similarity',8.41941926899531511985e-02,'[0.08419419268995315]',19);
INSERT INTO "scores" VALUES(11,'SM0_3/sound','rouge_l',0.0,'[0.0]',31);
INSERT INTO "scores" VALUES(11,'SM0_3/speech','date',1.66093888249418036862e-01,'[0.16609388824941804]',28);
INSERT INTO "scores" VALUES(11,'SM0_3/speech','date_discriminability',1.42857142857142904724e-01,'[0.1428571428571429]',12);
INSERT INTO "scores" VALUES(11,'SM0_3/speech','date_similarity',1.9835829694776102583e-01,'[0.19835829694776103]',20);
INSERT INTO "scores" VALUES(11,'SM0_3/speech','rouge_l',0.5,'[0.5]',31);
INSERT INTO "scores" VALUES(11,'SMA_0/environment','date',1.85471701511574632582e-01,'[0.18547170151157463]',21);
INSERT INTO "scores" VALUES(11,'SMA_0/environment','date_discriminability',1.81818181818181767717e-01,'[0.18181818181818177]',5);
INSERT INTO "scores" VALUES(11,'SMA_0/environment','date_similarity',1.89275062436004143374e-01,'[0.18927506243600414]',13);
INSERT INTO "scores" VALUES(11,'SMA_0/environment','rouge_l',0.5,'[0.5]',31);
INSERT INTO "scores" VALUES(11,'SMA_0/long','date',4.42584169460572440791e-01,'[0.44258416946057244]',22);
INSERT INTO "scores" VALUES(11,'SMA_0/long','date_discriminability',7.27272727272727292913e-01,'[0.7272727272727273]',6);
INSERT INTO "scores" VALUES(11,'SMA_0/long','date_similarity',3.18074812461157041543e-01,'[0.31807481246115704]',14);
INSERT INTO "scores" VALUES(11,'SMA_0/long','rouge_l',4.70588235294117640528e-01,'[0.47058823529411764]',31);
INSERT INTO "scores" VALUES(11,'SMA_0/music','date',3.6862741300722634552e-01,'[0.36862741300722635]',23);
INSERT INTO "scores" VALUES(11,'SMA_0/music','date_discriminability',5.71428571428571396851e-01,'[0.5714285714285714]',7);
INSERT INTO "scores" VALUES(11,'SMA_0/music','date_similarity',2.72069423173613378353e-01,'[0.2720694231736134]',15);
INSERT INTO "scores" VALUES(11,'SMA_0/music','rouge_l',0.5,'[0.5]',31);
INSERT INTO "scores" VALUES(11,'SMA_0/short','date',3.43738225138529085445e-01,'[0.3437382251385291]',25);
INSERT INTO "scores" VALUES(11,'SMA_0/short','date_discriminability',0.5,'[0.5]',9);
INSERT INTO "scores" VALUES(11,'SMA_0/short','date_similarity',2.61891091562576672214e-01,'[0.26189109156257667]',17);
INSERT INTO "scores" VALUES(11,'SMA_0/short','rouge_l',0.5,'[0.5]',31);
INSERT INTO "scores" VALUES(11,'SMA_0/sound','date',0.0,'[0.0]',27);
INSERT INTO "scores" VALUES(11,'SMA_0/sound','date[null=out]',0.0,'[0.0]',26);
INSERT INTO "scores" VALUES(11,'SMA_0/sound','date_discriminability',0.0,'[0.0]',11);
INSERT INTO "scores" VALUES(11,'SMA_0/sound','date_discriminability[null=out]',0.0,'[0.0]',10);
INSERT INTO "scores" VALUES(11,'SMA_0/sound','date_similarity',1.34896178473167094314e-01,'[0.1348961784731671]',19);
INSERT INTO "scores" VALUES(11,'SMA_0/sound','date_similarity[null=out]',1.29141929689420120742e-01,'[0.12914192968942012]',18);
INSERT INTO "scores" VALUES(11,'SMA_0/sound','rouge_l',0.375,'[0.375]',31);
INSERT INTO "scores" VALUES(11,'SMA_0/sound','rouge_l[null=out]',0.375,'[0.375]',30);
INSERT INTO "scores" VALUES(11,'SMA_0/speech','date',1.55120759900345323024e-01,'[0.15512075990034532]',28);
INSERT INTO "scores" VALUES(11,'SMA_0/speech','date_discriminability',1.42857142857142904724e-01,'[0.1428571428571429]',12);
INSERT INTO "scores" VALUES(11,'SMA_0/speech','date_similarity',1.69687650433484715773e-01,'[0.16968765043348472]',20);
INSERT INTO "scores" VALUES(11,'SMA_0/speech','rouge_l',0.5,'[0.5]',31);
INSERT INTO "scores" VALUES(12,'000_0_00000000','date',9.33333333333333348136e-01,'[0.9333333333333333]',24);
INSERT INTO "scores" VALUES(12,'000_0_00000000','date_discriminability',0.875,'[0.875]',8);
INSERT INTO "scores" VALUES(12,'000_0_00000000','date_similarity',1.0,'[1.0]',16);
INSERT INTO "scores" VALUES(12,'000_0_00000001','date',9.33333333333333348136e-01,'[0.9333333333333333]',24);
INSERT INTO "scores" VALUES(12,'000_0_00000001','date_discriminability',0.875,'[0.875]',8);
INSERT INTO "scores" VALUES(12,'000_0_00000001','date_similarity',1.0,'[1.0]',16);
INSERT INTO "scores" VALUES(12,'000_0_00000002','date',9.33333333333333237114e-01,'[0.9333333333333332]',24);
INSERT INTO "scores" VALUES(12,'000_0_00000002','date_discriminability',0.875,'[0.875]',8);
INSERT INTO "scores" VALUES(12,'000_0_00000002','date_similarity',9.99999999999999777955e-01,'[0.9999999999999998]',16);
INSERT INTO "scores" VALUES(12,'000_0_00000003','date',9.33333333333333237114e-01,'[0.9333333333333332]',24);
INSERT INTO "scores" VALUES(12,'000_0_00000003','date_discriminability',0.875,'[0.875]',8);
INSERT INTO "scores" VALUES(12,'000_0_00000003','date_similarity',9.99999999999999888978e-01,'[0.9999999999999999]',16);
INSERT INTO "scores" VALUES(12,'000_0_00000004','date',9.33333333333333348136e-01,'[0.9333333333333333]',24);
INSERT INTO "scores" VALUES(12,'000_0_00000004','date_discriminability',0.875,'[0.875]',8);
INSERT INTO "scores" VALUES(12,'000_0_00000004','date_similarity',1.0,'[1.0]',16);
INSERT INTO "scores" VALUES(12,'000_0_00000005','date',9.33333333333333348136e-01,'[0.9333333333333333]',24);
INSERT INTO "scores" VALUES(12,'000_0_00000005','date_discriminability',0.875,'[0.875]',8);
INSERT INTO "scores" VALUES(12,'000_0_00000005','date_similarity',1.0,'[1.0]',16);
INSERT INTO "scores" VALUES(12,'00A_0_00000000','date',9.33333333333333348136e-01,'[0.9333333333333333]',24);
INSERT INTO "scores" VALUES(12,'00A_0_00000000','date_discriminability',0.875,'[0.875]',8);
INSERT INTO "scores" VALUES(12,'00A_0_00000000','date_similarity',1.0,'[1.0]',16);
INSERT INTO "scores" VALUES(12,'00A_0_00000001','date',9.33333333333333348136e-01,'[0.9333333333333333]',24);
INSERT INTO "scores" VALUES(12,'00A_0_00000001','date_discriminability',0.875,'[0.875]',8);
INSERT INTO "scores" VALUES(12,'00A_0_00000001','date_similarity',1.0,'[1.0]',16);
INSERT INTO "scores" VALUES(12,'00A_0_00000002','date',9.33333333333333348136e-01,'[0.9333333333333333]',24);
INSERT INTO "scores" VALUES(12,'00A_0_00000002','date_discriminability',0.875,'[0.875]',8);
INSERT INTO "scores" VALUES(12,'00A_0_00000002','date_similarity',1.0,'[1.0]',16);
INSERT INTO "scores" VALUES(12,'00A_0_00000003','date',9.33333333333333348136e-01,'[0.9333333333333333]',24);
INSERT INTO "scores" VALUES(12,'00A_0_00000003','date_discriminability',0.875,'[0.875]',8);
INSERT INTO "scores" VALUES(12,'00A_0_00000003','date_similarity',1.0,'[1.0]',16);
INSERT INTO "scores" VALUES(12,'00A_0_00000004','date',9.33333333333333348136e-01,'[0.9333333333333333]',24);
INSERT INTO "scores" VALUES(12,'00A_0_00000004','date_discriminability',0.875,'[0.875]',8);
INSERT INTO "scores" VALUES(12,'00A_0_00000004','date_similarity',1.0,'[1.0]',16);
INSERT INTO "scores" VALUES(12,'00A_0_00000005','date',9.33333333333333348136e-01,'[0.9333333333333333]',24);
INSERT INTO "scores" VALUES(12,'00A_0_00000005','date_discriminability',0.875,'[0.875]',8);
INSERT INTO "scores" VALUES(12,'00A_0_00000005','date_similarity',1.0,'[1.0]',16);
INSERT INTO "scores" VALUES(12,'0M0_0_00000000','date',9.33333333333333348136e-01,'[0.9333333333333333]',24);
INSERT INTO "scores" VALUES(12,'0M0_0_00000000','date_discriminability',0.875,'[0.875]',8);
INSERT INTO "scores" VALUES(12,'0M0_0_00000000','date_similarity',1.0,'[1.0]',16);
INSERT INTO "scores" VALUES(12,'0M0_0_00000001','date',9.33333333333333348136e-01,'[0.9333333333333333]',24);
INSERT INTO "scores" VALUES(12,'0M0_0_00000001','date_discriminability',0.875,'[0.875]',8);
INSERT INTO "scores" VALUES(12,'0M0_0_00000001','date_similarity',1.0,'[1.0]',16);
INSERT INTO "scores" VALUES(12,'0M0_0_00000002','date',9.33333333333333348136e-01,'[0.9333333333333333]',24);
INSERT INTO "scores" VALUES(12,'0M0_0_00000002','date_discriminability',0.875,'[0.875]',8);
INSERT INTO "scores" VALUES(12,'0M0_0_00000002','date_similarity',1.0,'[1.0]',16);
INSERT INTO "scores" VALUES(12,'0M0_0_00000003','date',9.33333333333333348136e-01,'[0.9333333333333333]',24);
INSERT INTO "scores" VALUES(12,'0M0_0_00000003','date_discriminability',0.875,'[0.875]',8);
INSERT INTO "scores" VALUES(12,'0M0_0_00000003','date_similarity',1.0,'[1.0]',16);
INSERT INTO "scores" VALUES(12,'0M0_0_00000004','date',9.33333333333333237114e-01,'[0.9333333333333332]',24);
INSERT INTO "scores" VALUES(12,'0M0_0_00000004','date_discriminability',0.875,'[0.875]',8);
INSERT INTO "scores" VALUES(12,'0M0_0_00000004','date_similarity',9.99999999999999888978e-01,'[0.9999999999999999]',16);
INSERT INTO "scores" VALUES(12,'0M0_0_00000005','date',9.33333333333333348136e-01,'[0.9333333333333333]',24);
INSERT INTO "scores" VALUES(12,'0M0_0_00000005','date_discriminability',0.875,'[0.875]',8);
INSERT INTO "scores" VALUES(12,'0M0_0_00000005','date_similarity',1.0,'[1.0]',16);
INSERT INTO "scores" VALUES(12,'0MA_0_00000000','date',9.33333333333333348136e-01,'[0.9333333333333333]',24);
INSERT INTO "scores" VALUES(12,'0MA_0_00000000','date_discriminability',0.875,'[0.875]',8);
INSERT INTO "scores" VALUES(12,'0MA_0_00000000','date_similarity',1.0,'[1.0]',16);
INSERT INTO "scores" VALUES(12,'0MA_0_00000001','date',9.33333333333333348136e-01,'[0.9333333333333333]',24);
INSERT INTO "scores" VALUES(12,'0MA_0_00000001','date_discriminability',0.875,'[0.875]',8);
INSERT INTO "scores" VALUES(12,'0MA_0_00000001','date_similarity',1.0,'[1.0]',16);
INSERT INTO "scores" VALUES(12,'0MA_0_00000002','date',9.33333333333333348136e-01,'[0.9333333333333333]',24);
INSERT INTO "scores" VALUES(12,'0MA_0_00000002','date_discriminability',0.875,'[0.875]',8);
INSERT INTO "scores" VALUES(12,'0MA_0_00000002','date_similarity',1.0,'[1.0]',16);
INSERT INTO "scores" VALUES(12,'0MA_0_00000003','date',9.33333333333333348136e-01,'[0.9333333333333333]',24);
INSERT INTO "scores" VALUES(12,'0MA_0_00000003','date_discriminability',0.875,'[0.875]',8);
INSERT INTO "scores" VALUES(12,'0MA_0_00000003','date_similarity',1.0,'[1.0]',16);
INSERT INTO "scores" VALUES(12,'0MA_0_00000004','date',9.33333333333333237114e-01,'[0.9333333333333332]',24);
INSERT INTO "scores" VALUES(12,'0MA_0_00000004','date_discriminability',0.875,'[0.875]',8);
INSERT INTO "scores" VALUES(12,'0MA_0_00000004','date_similarity',9.99999999999999888978e-01,'[0.9999999999999999]',16);
INSERT INTO "scores" VALUES(12,'0MA_0_00000005','date',9.33333333333333348136e-01,'[0.9333333333333333]',24);
INSERT INTO "scores" VALUES(12,'0MA_0_00000005','date_discriminability',0.875,'[0.875]',8);
INSERT INTO "scores" VALUES(12,'0MA_0_00000005','date_similarity',1.0,'[1.0]',16);
INSERT INTO "scores" VALUES(12,'S00_0_00000000','date',9.33333333333333237114e-01,'[0.9333333333333332]',24);
INSERT INTO "scores" VALUES(12,'S00_0_00000000','date_discriminability',0.875,'[0.875]',8);
INSERT INTO "scores" VALUES(12,'S00_0_00000000','date_similarity',9.99999999999999777955e-01,'[0.9999999999999998]',16);
INSERT INTO "scores" VALUES(12,'S00_0_00000001','date',9.33333333333333348136e-01,'[0.9333333333333333]',24);
INSERT INTO "scores" VALUES(12,'S00_0_00000001','date_discriminability',0.875,'[0.875]',8);
INSERT INTO "scores" VALUES(12,'S00_0_00000001','date_similarity',1.0,'[1.0]',16);
INSERT INTO "scores" VALUES(12,'S00_0_00000002','date',9.33333333333333348136e-01,'[0.9333333333333333]',24);
INSERT INTO "scores" VALUES(12,'S00_0_00000002','date_discriminability',0.875,'[0.875]',8);
INSERT INTO "scores" VALUES(12,'S00_0_00000002','date_similarity',1.0,'[1.0]',16);
INSERT INTO "scores" VALUES(12,'S00_0_00000003','date',9.33333333333333348136e-01,'[0.9333333333333333]',24);
INSERT INTO "scores" VALUES(12,'S00_0_00000003','date_discriminability',0.875,'[0.875]',8);
INSERT INTO "scores" VALUES(12,'S00_0_00000003','date_similarity',1.0,'[1.0]',16);
INSERT INTO "scores" VALUES(12,'S00_0_00000004','date',9.33333333333333348136e-01,'[0.9333333333333333]',24);
INSERT INTO "scores" VALUES(12,'S00_0_00000004','date_discriminability',0.875,'[0.875]',8);
INSERT INTO "scores" VALUES(12,'S00_0_00000004','date_similarity',1.0,'[1.0]',16);
INSERT INTO "scores" VALUES(12,'S00_0_00000005','date',9.33333333333333348136e-01,'[0.9333333333333333]',24);
INSERT INTO "scores" VALUES(12,'S00_0_00000005','date_discriminability',0.875,'[0.875]',8);
INSERT INTO "scores" VALUES(12,'S00_0_00000005','date_similarity',1.0,'[1.0]',16);
INSERT INTO "scores" VALUES(12,'S0A_0_00000000','date',9.33333333333333237114e-01,'[0.9333333333333332]',24);
INSERT INTO "scores" VALUES(12,'S0A_0_00000000','date_discriminability',0.875,'[0.875]',8);
INSERT INTO "scores" VALUES(12,'S0A_0_00000000','date_similarity',9.99999999999999888978e-01,'[0.9999999999999999]',16);
INSERT INTO "scores" VALUES(12,'S0A_0_00000001','date',9.33333333333333348136e-01,'[0.9333333333333333]',24);
INSERT INTO "scores" VALUES(12,'S0A_0_00000001','date_discriminability',0.875,'[0.875]',8);
INSERT INTO "scores" VALUES(12,'S0A_0_00000001','date_similarity',1.0,'[1.0]',16);
INSERT INTO "scores" VALUES(12,'S0A_0_00000002','date',9.33333333333333348136e-01,'[0.9333333333333333]',24);
INSERT INTO "scores" VALUES(12,'S0A_0_00000002','date_discriminability',0.875,'[0.875]',8);
INSERT INTO "scores" VALUES(12,'S0A_0_00000002','date_similarity',1.0,'[1.0]',16);
INSERT INTO "scores" VALUES(12,'S0A_0_00000003','date',9.33333333333333348136e-01,'[0.9333333333333333]',24);
INSERT INTO "scores" VALUES(12,'S0A_0_00000003','date_discriminability',0.875,'[0.875]',8);
INSERT INTO "scores" VALUES(12,'S0A_0_00000003','date_similarity',1.0,'[1.0]',16);
INSERT INTO "scores" VALUES(12,'S0A_0_00000004','date',9.33333333333333237114e-01,'[0.9333333333333332]',24);
INSERT INTO "scores" VALUES(12,'S0A_0_00000004','date_discriminability',0.875,'[0.875]',8);
INSERT INTO "scores" VALUES(12,'S0A_0_00000004','date_similarity',9.99999999999999777955e-01,'[0.9999999999999998]',16);
INSERT INTO "scores" VALUES(12,'S0A_0_00000005','date',9.33333333333333237114e-01,'[0.9333333333333332]',24);
INSERT INTO "scores" VALUES(12,'S0A_0_00000005','date_discriminability',0.875,'[0.875]',8);
INSERT INTO "scores" VALUES(12,'S0A_0_00000005','date_similarity',9.99999999999999777955e-01,'[0.9999999999999998]',16);
INSERT INTO "scores" VALUES(12,'SM0_0_00000000','date',9.33333333333333348136e-01,'[0.9333333333333333]',24);
INSERT INTO "scores" VALUES(12,'SM0_0_00000000','date_discriminability',0.875,'[0.875]',8);
INSERT INTO "scores" VALUES(12,'SM0_0_00000000','date_similarity',1.0,'[1.0]',16);
INSERT INTO "scores" VALUES(12,'SM0_0_00000001','date',9.33333333333333237114e-01,'[0.9333333333333332]',24);
INSERT INTO "scores" VALUES(12,'SM0_0_00000001','date_discriminability',0.875,'[0.875]',8);
INSERT INTO "scores" VALUES(12,'SM0_0_00000001','date_similarity',9.99999999999999777955e-01,'[0.9999999999999998]',16);
INSERT INTO "scores" VALUES(12,'SM0_0_00000002','date',9.33333333333333348136e-01,'[0.9333333333333333]',24);
INSERT INTO "scores" VALUES(12,'SM0_0_00000002','date_discriminability',0.875,'[0.875]',8);
INSERT INTO "scores" VALUES(12,'SM0_0_00000002','date_similarity',1.0,'[1.0]',16);
INSERT INTO "scores" VALUES(12,'SM0_0_00000003','date',9.33333333333333348136e-01,'[0.9333333333333333]',24);
INSERT INTO "scores" VALUES(12,'SM0_0_00000003','date_discriminability',0.875,'[0.875]',8);
INSERT INTO "scores" VALUES(12,'SM0_0_00000003','date_similarity',1.0,'[1.0]',16);
INSERT INTO "scores" VALUES(12,'SM0_0_00000004','date',9.33333333333333348136e-01,'[0.9333333333333333]',24);
INSERT INTO "scores" VALUES(12,'SM0_0_00000004','date_discriminability',0.875,'[0.875]',8);
INSERT INTO "scores" VALUES(12,'SM0_0_00000004','date_similarity',1.0,'[1.0]',16);
INSERT INTO "scores" VALUES(12,'SM0_0_00000005','date',9.33333333333333348136e-01,'[0.9333333333333333]',24);
INSERT INTO "scores" VALUES(12,'SM0_0_00000005','date_discriminability',0.875,'[0.875]',8);
INSERT INTO "scores" VALUES(12,'SM0_0_00000005','date_similarity',1.0,'[1.0]',16);
INSERT INTO "scores" VALUES(12,'SMA_0_00000000','date',9.33333333333333348136e-01,'[0.9333333333333333]',24);
INSERT INTO "scores" VALUES(12,'SMA_0_00000000','date_discriminability',0.875,'[0.875]',8);
INSERT INTO "scores" VALUES(12,'SMA_0_00000000','date_similarity',1.0,'[1.0]',16);
INSERT INTO "scores" VALUES(12,'SMA_0_00000001','date',9.33333333333333348136e-01,'[0.9333333333333333]',24);
INSERT INTO "scores" VALUES(12,'SMA_0_00000001','date_discriminability',0.875,'[0.875]',8);
INSERT INTO "scores" VALUES(12,'SMA_0_00000001','date_similarity',1.0,'[1.0]',16);
INSERT INTO "scores" VALUES(12,'SMA_0_00000002','date',9.33333333333333237114e-01,'[0.9333333333333332]',24);
INSERT INTO "scores" VALUES(12,'SMA_0_00000002','date_discriminability',0.875,'[0.875]',8);
INSERT INTO "scores" VALUES(12,'SMA_0_00000002','date_similarity',9.99999999999999888978e-01,'[0.9999999999999999]',16);
INSERT INTO "scores" VALUES(12,'SMA_0_00000003','date',9.33333333333333348136e-01,'[0.9333333333333333]',24);
INSERT INTO "scores" VALUES(12,'SMA_0_00000003','date_discriminability',0.875,'[0.875]',8);
INSERT INTO "scores" VALUES(12,'SMA_0_00000003','date_similarity',1.0,'[1.0]',16);
INSERT INTO "scores" VALUES(12,'SMA_0_00000004','date',9.33333333333333348136e-01,'[0.9333333333333333]',24);
INSERT INTO "scores" VALUES(12,'SMA_0_00000004','date_discriminability',0.875,'[0.875]',8);
INSERT INTO "scores" VALUES(12,'SMA_0_00000004','date_similarity',1.0,'[1.0]',16);
INSERT INTO "scores" VALUES(12,'SMA_0_00000005','date',9.33333333333333348136e-01,'[0.9333333333333333]',24);
INSERT INTO "scores" VALUES(12,'SMA_0_00000005','date_discriminability',0.875,'[0.875]',8);
INSERT INTO "scores" VALUES(12,'SMA_0_00000005','date_similarity',1.0,'[1.0]',16);
CREATE TABLE scorings (
	run INTEGER NOT NULL, 
	scorer TEXT NOT NULL, 
	made_by TEXT NOT NULL, 
	made_at TEXT NOT NULL, 
	PRIMARY KEY (run, scorer), 
	FOREIGN KEY(run) REFERENCES runs (id) ON DELETE CASCADE
);
INSERT INTO "scorings" VALUES(1,'bleu_1','audiocapbench 0.1.0','2026-11-15T14:59:06.514+00:00');
INSERT INTO "scorings" VALUES(1,'bleu_2','audiocapbench 0.1.0','2026-11-15T14:59:06.514+00:00');
INSERT INTO "scorings" VALUES(1,'bleu_3','audiocapbench 0.1.0','2026-11-15T14:59:06.514+00:00');
INSERT INTO "scorings" VALUES(1,'bleu_4','audiocapbench 0.1.0','2026-11-15T14:59:06.514+00:00');
INSERT INTO "scorings" VALUES(1,'meteor','audiocapbench 0.1.0','2026-11-15T14:59:06.514+00:00');
INSERT INTO "scorings" VALUES(1,'rouge_l','audiocapbench 0.1.0','2026-11-15T14:59:06.514+00:00');
INSERT INTO "scorings" VALUES(2,'bleu_1','audiocapbench 0.1.0','2026-11-15T14:59:13.842+00:00');
INSERT INTO "scorings" VALUES(2,'bleu_2','audiocapbench 0.1.0','2026-11-15T14:59:13.842+00:00');
INSERT INTO "scorings" VALUES(2,'bleu_3','audiocapbench 0.1.0','2026-11-15T14:59:13.842+00:00');
INSERT INTO "scorings" VALUES(2,'bleu_4','audiocapbench 0.1.0','2026-11-15T14:59:13.842+00:00');
INSERT INTO "scorings" VALUES(2,'meteor','audiocapbench 0.1.0','2026-11-15T14:59:13.842+00:00');
INSERT INTO "scorings" VALUES(2,'rouge_l','audiocapbench 0.1.0','2026-11-15T14:59:13.842+00:00');
INSERT INTO "scorings" VALUES(3,'meteor','audiocapbench 0.1.0','2026-11-15T14:59:23.665+00:00');
INSERT INTO "scorings" VALUES(10,'date','audiocapbench 0.1.0','2026-11-15T14:59:42.027+00:00');
INSERT INTO "scorings" VALUES(10,'date[null=out]','audiocapbench 0.1.0','2026-11-15T14:59:42.027+00:00');
INSERT INTO "scorings" VALUES(10,'date_discriminability','audiocapbench 0.1.0','2026-11-15T14:59:42.027+00:00');
INSERT INTO "scorings" VALUES(10,'date_discriminability[null=out]','audiocapbench 0.1.0','2026-11-15T14:59:42.027+00:00');
INSERT INTO "scorings" VALUES(10,'date_similarity','audiocapbench 0.1.0','2026-11-15T14:59:42.027+00:00');
INSERT INTO "scorings" VALUES(10,'date_similarity[null=out]','audiocapbench 0.1.0','2026-11-15T14:59:42.027+00:00');
INSERT INTO "scorings" VALUES(10,'rouge_l','audiocapbench 0.1.0','2026-11-15T14:59:42.027+00:00');
INSERT INTO "scorings" VALUES(10,'rouge_l[null=out]','audiocapbench 0.1.0','2026-11-15T14:59:42.027+00:00');
INSERT INTO "scorings" VALUES(11,'date','audiocapbench 0.1.0','2026-11-15T14:59:45.077+00:00');
INSERT INTO "scorings" VALUES(11,'date[null=out]','audiocapbench 0.1.0','2026-11-15T14:59:45.077+00:00');
INSERT INTO "scorings" VALUES(11,'date_discriminability','audiocapbench 0.1.0','2026-11-15T14:59:45.077+00:00');
INSERT INTO "scorings" VALUES(11,'date_discriminability[null=out]','audiocapbench 0.1.0','2026-11-15T14:59:45.077+00:00');
INSERT INTO "scorings" VALUES(11,'date_similarity','audiocapbench 0.1.0','2026-11-15T14:59:45.077+00:00');
INSERT INTO "scorings" VALUES(11,'date_similarity[null=out]','audiocapbench 0.1.0','2026-11-15T14:59:45.077+00:00');
INSERT INTO "scorings" VALUES(11,'rouge_l','audiocapbench 0.1.0','2026-11-15T14:59:45.077+00:00');
INSERT INTO "scorings" VALUES(11,'rouge_l[null=out]','audiocapbench 0.1.0','2026-11-15T14:59:45.077+00:00');
INSERT INTO "scorings" VALUES(12,'date','audiocapbench 0.1.0','2026-11-15T14:59:46.889+00:00');
INSERT INTO "scorings" VALUES(12,'date_discriminability','audiocapbench 0.1.0','2026-11-15T14:59:46.889+00:00');
INSERT INTO "scorings" VALUES(12,'date_similarity','audiocapbench 0.1.0','2026-11-15T14:59:46.889+00:00');
INSERT INTO "scorings" VALUES(1,'elements','audiocapbench 0.1.0','2026-11-15T14:59:06.514+00:00');
INSERT INTO "scorings" VALUES(2,'elements','audiocapbench 0.1.0','2026-11-15T14:59:13.842+00:00');
INSERT INTO "scorings" VALUES(3,'elements','audiocapbench 0.1.0','2026-11-15T14:59:23.665+00:00');
INSERT INTO "scorings" VALUES(4,'elements','audiocapbench 0.1.0','2026-11-15T14:59:33.942+00:00');
INSERT INTO "scorings" VALUES(5,'elements','audiocapbench 0.1.0','2026-11-15T14:59:34.949+00:00');
INSERT INTO "scorings" VALUES(6,'elements','audiocapbench 0.1.0','2026-11-15T14:59:35.230+00:00');
INSERT INTO "scorings" VALUES(7,'elements','audiocapbench 0.1.0','2026-11-15T14:59:35.487+00:00');
INSERT INTO "scorings" VALUES(9,'elements','audiocapbench 0.1.0','2026-11-15T14:59:35.683+00:00');
CREATE TABLE signatures (
	id INTEGER NOT NULL, 
	text TEXT NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (text)
);
INSERT INTO "signatures" VALUES(1,'bleu_1|variant:nltk|level:sentence|smooth:method1|tok:split|case:lower|refs:all|protocol:1');
INSERT INTO "signatures" VALUES(2,'bleu_2|variant:nltk|level:sentence|smooth:method1|tok:split|case:lower|refs:all|protocol:1');
INSERT INTO "signatures" VALUES(3,'bleu_3|variant:nltk|level:sentence|smooth:method1|tok:split|case:lower|refs:all|protocol:1');
INSERT INTO "signatures" VALUES(4,'bleu_4|variant:nltk|level:sentence|smooth:method1|tok:split|case:lower|refs:all|protocol:1');
INSERT INTO "signatures" VALUES(5,'date_discriminability|variant:code|subtask:environment|d:0.215|encoder:wordllama@461d9f72|refs:mean|fluency:no|protocol:1');
INSERT INTO "signatures" VALUES(6,'date_discriminability|variant:code|subtask:long|d:0.1703|encoder:wordllama@461d9f72|refs:mean|fluency:no|protocol:1');
INSERT INTO "signatures" VALUES(7,'date_discriminability|variant:code|subtask:music|d:0.1566|encoder:wordllama@461d9f72|refs:mean|fluency:no|protocol:1');
INSERT INTO "signatures" VALUES(8,'date_discriminability|variant:code|subtask:qa|d:0.1703|encoder:wordllama@461d9f72|refs:mean|fluency:no|protocol:1');
INSERT INTO "signatures" VALUES(9,'date_discriminability|variant:code|subtask:short|d:0.1772|encoder:wordllama@461d9f72|refs:mean|fluency:no|protocol:1');
INSERT INTO "signatures" VALUES(10,'date_discriminability|variant:code|subtask:sound|d:0.1988|encoder:wordllama@461d9f72|refs:mean|fluency:no|null:out|protocol:1');
INSERT INTO "signatures" VALUES(11,'date_discriminability|variant:code|subtask:sound|d:0.1988|encoder:wordllama@461d9f72|refs:mean|fluency:no|protocol:1');
INSERT INTO "signatures" VALUES(12,'date_discriminability|variant:code|subtask:speech|d:0.2078|encoder:wordllama@461d9f72|refs:mean|fluency:no|protocol:1');
INSERT INTO "signatures" VALUES(13,'date_similarity|variant:code|subtask:environment|d:0.215|encoder:wordllama@461d9f72|refs:mean|fluency:no|protocol:1');
INSERT INTO "signatures" VALUES(14,'date_similarity|variant:code|subtask:long|d:0.1703|encoder:wordllama@461d9f72|refs:mean|fluency:no|protocol:1');
INSERT INTO "signatures" VALUES(15,'date_similarity|variant:code|subtask:music|d:0.1566|encoder:wordllama@461d9f72|refs:mean|fluency:no|protocol:1');
INSERT INTO "signatures" VALUES(16,'date_similarity|variant:code|subtask:qa|d:0.1703|encoder:wordllama@461d9f72|refs:mean|fluency:no|protocol:1');
INSERT INTO "signatures" VALUES(17,'date_similarity|variant:code|subtask:short|d:0.1772|encoder:wordllama@461d9f72|refs:mean|fluency:no|protocol:1');
INSERT INTO "signatures" VALUES(18,'date_similarity|variant:code|subtask:sound|d:0.1988|encoder:wordllama@461d9f72|refs:mean|fluency:no|null:out|protocol:1');
INSERT INTO "signatures" VALUES(19,'date_similarity|variant:code|subtask:sound|d:0.1988|encoder:wordllama@461d9f72|refs:mean|fluency:no|protocol:1');
INSERT INTO "signatures" VALUES(20,'date_similarity|variant:code|subtask:speech|d:0.2078|encoder:wordllama@461d9f72|refs:mean|fluency:no|protocol:1');
INSERT INTO "signatures" VALUES(21,'date|variant:code|subtask:environment|d:0.215|encoder:wordllama@461d9f72|refs:mean|fluency:no|protocol:1');
INSERT INTO "signatures" VALUES(22,'date|variant:code|subtask:long|d:0.1703|encoder:wordllama@461d9f72|refs:mean|fluency:no|protocol:1');
INSERT INTO "signatures" VALUES(23,'date|variant:code|subtask:music|d:0.1566|encoder:wordllama@461d9f72|refs:mean|fluency:no|protocol:1');
INSERT INTO "signatures" VALUES(24,'date|variant:code|subtask:qa|d:0.1703|encoder:wordllama@461d9f72|refs:mean|fluency:no|protocol:1');
INSERT INTO "signatures" VALUES(25,'date|variant:code|subtask:short|d:0.1772|encoder:wordllama@461d9f72|refs:mean|fluency:no|protocol:1');
INSERT INTO "signatures" VALUES(26,'date|variant:code|subtask:sound|d:0.1988|encoder:wordllama@461d9f72|refs:mean|fluency:no|null:out|protocol:1');
INSERT INTO "signatures" VALUES(27,'date|variant:code|subtask:sound|d:0.1988|encoder:wordllama@461d9f72|refs:mean|fluency:no|protocol:1');
INSERT INTO "signatures" VALUES(28,'date|variant:code|subtask:speech|d:0.2078|encoder:wordllama@461d9f72|refs:mean|fluency:no|protocol:1');
INSERT INTO "signatures" VALUES(29,'meteor|variant:nltk|tok:split|case:lower|refs:max|wordnet:3.0|protocol:1');
INSERT INTO "signatures" VALUES(30,'rouge_l|variant:rouge-score|stem:porter|tok:alnum|case:lower|refs:max|null:out|protocol:1');
INSERT INTO "signatures" VALUES(31,'rouge_l|variant:rouge-score|stem:porter|tok:alnum|case:lower|refs:max|protocol:1');
INSERT INTO "signatures" VALUES(32,'judge-elements|rules:1|encoder:wordllama@461d9f72|stem:porter|wordnet:3.0|protocol:1');
INSERT INTO "signatures" VALUES(33,'');
INSERT INTO "signatures" VALUES(34,'date|variant:code|subtask:by-group|d:by-group|encoder:wordllama@461d9f72|refs:mean|fluency:no|total:Score_Cap|protocol:1');
INSERT INTO "signatures" VALUES(35,'date|variant:code|subtask:qa|d:0.1703|encoder:wordllama@461d9f72|refs:mean|fluency:no|total:Score_QA|protocol:1');
CREATE TABLE workers (
	id VARCHAR(64) NOT NULL, 
	owner TEXT NOT NULL, 
	process TEXT NOT NULL, 
	started_at TEXT NOT NULL, 
	until FLOAT NOT NULL, 
	PRIMARY KEY (id)
);
CREATE INDEX responses_by_model ON responses (model);
CREATE INDEX ix_runs_dataset ON runs (dataset);
CREATE INDEX outcomes_counted ON outcomes (run, status, cost_usd);
CREATE INDEX ix_claims_worker ON claims (worker);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('runs',14);
COMMIT;

import type { Notice, NoticeDigest, NoticeLine, NoticeOccasion, NoticeVote } from '../notice.ts';
import { cut } from '../plain.ts';
import { iso } from './draft.ts';

type Json = Readonly<Record<string, unknown>>;

/** What machines are told is no longer than this as UTF-8. */
export const mostDataBytes = 16_384;
const mostLists = 20;

/** An occasion for machines. `event` and `kind` together say what happened. */
export function occasionData(notice: Notice, occasion: NoticeOccasion): Json {
  const { details } = occasion;
  return {
    ...commonData(notice),
    event: occasion.event,
    severity: occasion.severity,
    started_at: iso(occasion.startedMs),
    ended_at: iso(occasion.endedMs),
    resolution: occasion.resolution,
    is_acknowledged: occasion.isAcknowledged,
    is_manual: occasion.isManual,
    incident: occasion.incidentId === null ? null : { id: occasion.incidentId, title: cut(occasion.title, 200) },
    by: occasion.by === null ? null : cut(occasion.by, 100),
    closing_words: occasion.closing === null ? null : cut(occasion.closing, 1000),
    reminder: notice.reminder,
    step: notice.step,
    update:
      notice.update === null
        ? null
        : { reason: notice.update.reason, text: notice.update.text === null ? null : cut(notice.update.text, 1000) },
    subjects: occasion.subjects.slice(0, mostLists).map((subject) => ({
      type: subject.type,
      id: subject.id,
      name: cut(subject.name, 100),
      status: subject.status,
      started_at: iso(subject.startedMs),
      ended_at: iso(subject.endedMs),
    })),
    subject_count: occasion.subjectCount,
    votes: occasion.votes.slice(0, mostLists).map(voteData),
    missing_probes: occasion.missing.slice(0, mostLists).map((probe) => cut(probe, 60)),
    said: occasion.said === null ? null : cut(occasion.said, 1000),
    next_check_at: iso(occasion.nextCheckMs),
    ...(details.notAfterMs === undefined ? {} : { not_after: iso(details.notAfterMs) }),
    ...(details.thresholdDays === undefined ? {} : { threshold_days: details.thresholdDays }),
    ...(details.provider === undefined ? {} : { provider: cut(details.provider, 100) }),
    ...(details.region === undefined ? {} : { region: cut(details.region, 100) }),
    ...(details.reason === undefined ? {} : { reason: cut(details.reason, 200) }),
    ...(details.incidents === undefined
      ? {}
      : { incidents: details.incidents.slice(0, mostLists).map((title) => cut(title, 200)) }),
    ...(details.incidentCount === undefined ? {} : { incident_count: details.incidentCount }),
  };
}

/** A digest for machines. */
export function digestData(notice: Notice, digest: NoticeDigest): Json {
  return {
    ...commonData(notice),
    event: notice.kind,
    count: digest.count,
    lasting: digest.lasting,
    over: digest.over,
    lines: digest.lines.slice(0, mostLists).map(lineData),
  };
}

export function commonData({ kind, alertName, workspace }: Notice): Json {
  return {
    kind,
    alert: alertName === null ? null : cut(alertName, 100),
    workspace: { id: workspace.id, name: cut(workspace.name, 100) },
  };
}

function voteData({ probe, region, vote, code, text }: NoticeVote): Json {
  return {
    // The control plane itself is no probe and has no name; other answers of the API name it so too.
    probe: probe === '' ? null : cut(probe, 60),
    region: probe === '' ? 'central' : region === null ? null : cut(region, 60),
    vote,
    code,
    text: text === null ? null : cut(text, 200),
  };
}

function lineData({ event, severity, title, name, subjectCount, startedMs, endedMs, url }: NoticeLine): Json {
  return {
    event,
    severity,
    title: cut(title, 100),
    name: name === null ? null : cut(name, 60),
    subject_count: subjectCount,
    started_at: iso(startedMs),
    ended_at: iso(endedMs),
    url: url === null || url.length > 300 ? null : url,
  };
}

/** What is given away first where data is too large: what people read, before what names things. */
const dispensable = ['said', 'votes', 'missing_probes', 'incidents', 'update', 'closing_words', 'lines', 'subjects'];

/** Data within its limit; `truncated` names what is missing. */
export function boundedData(data: Json): Json {
  if (sizeOf(data) <= mostDataBytes) return data;
  const truncated: string[] = [];
  let left: Json = data;
  for (const name of dispensable) {
    if (!(name in left)) continue;
    truncated.push(name);
    left = { ...Object.fromEntries(Object.entries(left).filter(([key]) => key !== name)), truncated };
    if (sizeOf(left) <= mostDataBytes) return left;
  }
  return left;
}

function sizeOf(data: Json): number {
  return Buffer.byteLength(JSON.stringify(data));
}

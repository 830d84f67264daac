import t from 'tap';
import { changeOf, withoutTags, withTags } from './change.ts';

const group = {
  id: 1,
  workspace_id: 2,
  name: 'shop',
  description: 'old',
  is_paused: false,
  tags: [],
  monitor_ids: [],
  created_at: '',
  updated_at: '',
  version: 3,
};

void t.test('only what differs is a change; null clears, an absent key keeps', async (t) => {
  t.same(changeOf(group, { name: 'new', description: null, is_paused: true }), {
    name: 'new',
    description: '',
    is_paused: true,
  });
  t.same(changeOf(group, { description: 'new' }), { description: 'new' });
  t.equal(changeOf(group, {}), null);
  t.equal(changeOf(group, { name: 'shop', description: 'old', is_paused: false }), null);
  t.equal(changeOf({ ...group, description: '' }, { description: null }), null);
});

void t.test('tags keep their order, each once', async (t) => {
  t.same(withTags(['a', 'b'], ['b', 'c', 'c']), ['a', 'b', 'c']);
  t.same(withoutTags(['a', 'b', 'c'], ['b', 'x']), ['a', 'c']);
});

import t from 'tap';
import { schemaTo30, toOpenApi30 } from './python-client/openapi-3-0.ts';

const reference = { $ref: '#/components/schemas/One' };

void t.test('a schema of 3.1 in the words of 3.0', async (t) => {
  for (const [schema, expected] of [
    [
      { type: 'string', minLength: 1 },
      { type: 'string', minLength: 1 },
    ],
    [{ type: ['string', 'null'] }, { type: 'string', nullable: true }],
    [{ type: ['string', 'number'] }, { nullable: true }],
    [
      { anyOf: [{ type: 'integer' }, { type: 'null' }], description: 'd' },
      { type: 'integer', description: 'd', nullable: true },
    ],
    [{ anyOf: [reference, { type: 'null' }] }, { allOf: [reference], nullable: true }],
    [
      { anyOf: [{ type: 'integer' }, { type: 'string' }], default: 1 },
      { default: 1, nullable: true },
    ],
    [
      { type: 'string', const: 'a' },
      { type: 'string', enum: ['a'] },
    ],
    [{ type: 'boolean', const: true }, { type: 'boolean' }],
    [
      { type: 'string', examples: ['a', 'b'] },
      { type: 'string', example: 'a' },
    ],
    [
      { type: ['string', 'null'], default: null },
      { type: 'string', nullable: true },
    ],
    [
      { type: 'object', propertyNames: { type: 'string' }, additionalProperties: {} },
      { type: 'object', additionalProperties: { nullable: true } },
    ],
    [
      { type: 'object', additionalProperties: false },
      { type: 'object', additionalProperties: false },
    ],
    [
      { type: 'object', properties: { type: { type: ['integer', 'null'] } }, required: ['type'] },
      { type: 'object', properties: { type: { type: 'integer', nullable: true } }, required: ['type'] },
    ],
    [
      { anyOf: [{ type: 'array', items: { type: 'string', enum: ['a'] } }, { type: 'null' }] },
      { type: 'array', items: { type: 'string' }, nullable: true },
    ],
    [
      { type: 'array', items: { type: 'string', enum: ['a'] } },
      { type: 'array', items: { type: 'string', enum: ['a'] } },
    ],
    [reference, reference],
  ] as const) {
    t.same(schemaTo30(schema), expected, JSON.stringify(schema));
  }
});

void t.test('a document of 3.1 in the words of 3.0', async (t) => {
  const objects = {
    oneOf: [
      { type: 'object', properties: {} },
      { type: 'object', properties: {} },
    ],
  };
  const word = (text: string) => ({ type: 'object', properties: { action: { type: 'string', const: text } } });
  const schema = { anyOf: [reference, { type: 'null' }] };
  const schemas = {
    One: objects,
    Two: { anyOf: [{ type: 'string' }, { type: 'integer' }] },
    // In one class only the last word would be taken.
    Three: { oneOf: [word('pause'), word('move')] },
  };
  const post = { requestBody: { content: { 'application/json': { schema, example: { type: ['kept'] } } } } };
  const document = {
    openapi: '3.1.0',
    info: { title: 'T', license: { name: 'L', identifier: 'L' } },
    paths: { '/a': { post } },
    components: { schemas, securitySchemes: {} },
  };
  t.same(toOpenApi30(document), {
    openapi: '3.0.3',
    info: { title: 'T', license: { name: 'L' } },
    paths: {
      '/a': {
        post: { requestBody: { content: { 'application/json': { schema: reference, example: { type: ['kept'] } } } } },
      },
    },
    components: {
      securitySchemes: {},
      schemas: { One: { anyOf: objects.oneOf }, Two: { nullable: true }, Three: { nullable: true } },
    },
  });
});

"""The LALR tables of grammar.lark, as lark of that version made them. Written by `make docs`."""

from typing import Any

# fmt: off
LARK = "1.3.1"
GRAMMAR = "2baa9bcc91092e5daf0ae7b5531e91293af57436c8d3d674e256ae22efc6c9b1"

TABLES: dict[str, Any] = \
{'data': {'parser': {'lexer_conf': {'terminals': [{'@': 0}, {'@': 1}, {'@': 2}, {'@': 3}, {'@': 4}, {'@': 5}, {'@':
6}], 'ignore': ['__IGNORE_0'], 'g_regex_flags': 0, 'use_bytes': False, 'lexer_type': 'contextual', '__type__':
'LexerConf'}, 'parser_conf': {'rules': [{'@': 7}, {'@': 8}, {'@': 9}, {'@': 10}, {'@': 11}, {'@': 12}, {'@': 13},
{'@': 14}, {'@': 15}, {'@': 16}, {'@': 17}, {'@': 18}, {'@': 19}, {'@': 20}, {'@': 21}, {'@': 22}, {'@': 23}, {'@':
24}], 'start': ['layout'], 'parser_type': 'lalr', '__type__': 'ParserConf'}, 'parser': {'tokens': {0: 'OPTION', 1:
'BARE', 2: 'LPAR', 3: 'RPAR', 4: 'QUOTED', 5: 'VBAR', 6: '$END', 7: 'group', 8: 'stage', 9: 'word', 10: 'layout', 11:
'__layout_star_0', 12: '__stage_star_1', 13: 'option'}, 'states': {0: {0: (1, {'@': 21}), 1: (1, {'@': 21}), 2: (1,
{'@': 21}), 3: (1, {'@': 21}), 4: (1, {'@': 21}), 5: (1, {'@': 21}), 6: (1, {'@': 21})}, 1: {4: (0, 14), 7: (0, 11),
8: (0, 2), 9: (0, 15), 2: (0, 4), 1: (0, 10)}, 2: {3: (1, {'@': 18}), 5: (1, {'@': 18}), 6: (1, {'@': 18})}, 3: {8:
(0, 5), 10: (0, 18), 4: (0, 14), 7: (0, 11), 9: (0, 15), 2: (0, 4), 1: (0, 10)}, 4: {8: (0, 5), 4: (0, 14), 10: (0,
23), 7: (0, 11), 9: (0, 15), 2: (0, 4), 1: (0, 10)}, 5: {11: (0, 22), 5: (0, 7), 6: (1, {'@': 8}), 3: (1, {'@': 8})},
6: {0: (1, {'@': 13}), 2: (1, {'@': 13}), 1: (1, {'@': 13}), 3: (1, {'@': 13}), 4: (1, {'@': 13}), 5: (1, {'@': 13}),
6: (1, {'@': 13})}, 7: {8: (0, 21), 4: (0, 14), 7: (0, 11), 9: (0, 15), 2: (0, 4), 1: (0, 10)}, 8: {0: (1, {'@': 24}),
1: (1, {'@': 24}), 2: (1, {'@': 24}), 3: (1, {'@': 24}), 4: (1, {'@': 24}), 5: (1, {'@': 24}), 6: (1, {'@': 24})}, 9:
{0: (1, {'@': 22}), 1: (1, {'@': 22}), 2: (1, {'@': 22}), 3: (1, {'@': 22}), 4: (1, {'@': 22}), 5: (1, {'@': 22}), 6:
(1, {'@': 22})}, 10: {0: (1, {'@': 14}), 2: (1, {'@': 14}), 1: (1, {'@': 14}), 3: (1, {'@': 14}), 4: (1, {'@': 14}),
5: (1, {'@': 14}), 6: (1, {'@': 14})}, 11: {12: (0, 13), 4: (0, 14), 2: (0, 4), 9: (0, 20), 0: (0, 19), 13: (0, 16),
1: (0, 10), 7: (0, 0), 3: (1, {'@': 12}), 5: (1, {'@': 12}), 6: (1, {'@': 12})}, 12: {0: (1, {'@': 23}), 1: (1, {'@':
23}), 2: (1, {'@': 23}), 3: (1, {'@': 23}), 4: (1, {'@': 23}), 5: (1, {'@': 23}), 6: (1, {'@': 23})}, 13: {4: (0, 14),
7: (0, 8), 9: (0, 9), 2: (0, 4), 0: (0, 19), 1: (0, 10), 13: (0, 12), 3: (1, {'@': 11}), 5: (1, {'@': 11}), 6: (1,
{'@': 11})}, 14: {0: (1, {'@': 15}), 2: (1, {'@': 15}), 1: (1, {'@': 15}), 3: (1, {'@': 15}), 4: (1, {'@': 15}), 5:
(1, {'@': 15}), 6: (1, {'@': 15})}, 15: {4: (0, 14), 12: (0, 17), 2: (0, 4), 9: (0, 20), 0: (0, 19), 13: (0, 16), 1:
(0, 10), 7: (0, 0), 3: (1, {'@': 10}), 5: (1, {'@': 10}), 6: (1, {'@': 10})}, 16: {0: (1, {'@': 20}), 1: (1, {'@':
20}), 2: (1, {'@': 20}), 3: (1, {'@': 20}), 4: (1, {'@': 20}), 5: (1, {'@': 20}), 6: (1, {'@': 20})}, 17: {4: (0, 14),
7: (0, 8), 9: (0, 9), 2: (0, 4), 0: (0, 19), 1: (0, 10), 13: (0, 12), 3: (1, {'@': 9}), 5: (1, {'@': 9}), 6: (1, {'@':
9})}, 18: {}, 19: {0: (1, {'@': 16}), 1: (1, {'@': 16}), 2: (1, {'@': 16}), 3: (1, {'@': 16}), 4: (1, {'@': 16}), 5:
(1, {'@': 16}), 6: (1, {'@': 16})}, 20: {0: (1, {'@': 19}), 1: (1, {'@': 19}), 2: (1, {'@': 19}), 3: (1, {'@': 19}),
4: (1, {'@': 19}), 5: (1, {'@': 19}), 6: (1, {'@': 19})}, 21: {3: (1, {'@': 17}), 5: (1, {'@': 17}), 6: (1, {'@':
17})}, 22: {5: (0, 1), 6: (1, {'@': 7}), 3: (1, {'@': 7})}, 23: {3: (0, 6)}}, 'start_states': {'layout': 3},
'end_states': {'layout': 18}}, '__type__': 'ParsingFrontend'}, 'rules': [{'@': 7}, {'@': 8}, {'@': 9}, {'@': 10},
{'@': 11}, {'@': 12}, {'@': 13}, {'@': 14}, {'@': 15}, {'@': 16}, {'@': 17}, {'@': 18}, {'@': 19}, {'@': 20}, {'@':
21}, {'@': 22}, {'@': 23}, {'@': 24}], 'options': {'debug': False, 'strict': False, 'keep_all_tokens': False,
'tree_class': None, 'cache': False, 'cache_grammar': False, 'postlex': None, 'parser': 'lalr', 'lexer': 'contextual',
'transformer': None, 'start': ['layout'], 'priority': 'normal', 'ambiguity': 'auto', 'regex': False,
'propagate_positions': False, 'lexer_callbacks': {}, 'maybe_placeholders': True, 'edit_terminals': None,
'g_regex_flags': 0, 'use_bytes': False, 'ordered_sets': True, 'import_paths': [], 'source_path': None, '_plugins':
{}}, '__type__': 'Lark'}, 'memo': {0: {'name': 'LPAR', 'pattern': {'value': '(', 'flags': [], 'raw': '"("',
'__type__': 'PatternStr'}, 'priority': 0, '__type__': 'TerminalDef'}, 1: {'name': 'RPAR', 'pattern': {'value': ')',
'flags': [], 'raw': '")"', '__type__': 'PatternStr'}, 'priority': 0, '__type__': 'TerminalDef'}, 2: {'name': 'BARE',
'pattern': {'value': '[^\\s|()="]+(?=[\\s|()]|\\Z)', 'flags': [], 'raw': '/[^\\s|()="]+(?=[\\s|()]|\\Z)/', '_width':
[1, 18446744073709551616], '__type__': 'PatternRE'}, 'priority': 0, '__type__': 'TerminalDef'}, 3: {'name': 'QUOTED',
'pattern': {'value': '"[^"\n]+"(?=[\\s|()]|\\Z)', 'flags': [], 'raw': '/"[^"\\n]+"(?=[\\s|()]|\\Z)/', '_width': [3,
18446744073709551616], '__type__': 'PatternRE'}, 'priority': 0, '__type__': 'TerminalDef'}, 4: {'name': 'OPTION',
'pattern': {'value': '[^\\s|()="{},]+=("[^"\n]*"|[^\\s|()"]+)(?=[\\s|()]|\\Z)', 'flags': [], 'raw':
'/[^\\s|()="{},]+=("[^"\\n]*"|[^\\s|()"]+)(?=[\\s|()]|\\Z)/', '_width': [3, 18446744073709551616], '__type__':
'PatternRE'}, 'priority': 0, '__type__': 'TerminalDef'}, 5: {'name': '__IGNORE_0', 'pattern': {'value': '\\s+',
'flags': [], 'raw': '/\\s+/', '_width': [1, 18446744073709551616], '__type__': 'PatternRE'}, 'priority': 0,
'__type__': 'TerminalDef'}, 6: {'name': 'VBAR', 'pattern': {'value': '|', 'flags': [], 'raw': '"|"', '__type__':
'PatternStr'}, 'priority': 0, '__type__': 'TerminalDef'}, 7: {'origin': {'name': 'layout', '__type__': 'NonTerminal'},
'expansion': [{'name': 'stage', '__type__': 'NonTerminal'}, {'name': '__layout_star_0', '__type__': 'NonTerminal'}],
'order': 0, 'alias': None, 'options': {'keep_all_tokens': False, 'expand1': False, 'priority': None,
'template_source': None, 'empty_indices': (), '__type__': 'RuleOptions'}, '__type__': 'Rule'}, 8: {'origin': {'name':
'layout', '__type__': 'NonTerminal'}, 'expansion': [{'name': 'stage', '__type__': 'NonTerminal'}], 'order': 1,
'alias': None, 'options': {'keep_all_tokens': False, 'expand1': False, 'priority': None, 'template_source': None,
'empty_indices': (), '__type__': 'RuleOptions'}, '__type__': 'Rule'}, 9: {'origin': {'name': 'stage', '__type__':
'NonTerminal'}, 'expansion': [{'name': 'word', '__type__': 'NonTerminal'}, {'name': '__stage_star_1', '__type__':
'NonTerminal'}], 'order': 0, 'alias': None, 'options': {'keep_all_tokens': False, 'expand1': False, 'priority': None,
'template_source': None, 'empty_indices': (), '__type__': 'RuleOptions'}, '__type__': 'Rule'}, 10: {'origin': {'name':
'stage', '__type__': 'NonTerminal'}, 'expansion': [{'name': 'word', '__type__': 'NonTerminal'}], 'order': 1, 'alias':
None, 'options': {'keep_all_tokens': False, 'expand1': False, 'priority': None, 'template_source': None,
'empty_indices': (), '__type__': 'RuleOptions'}, '__type__': 'Rule'}, 11: {'origin': {'name': 'stage', '__type__':
'NonTerminal'}, 'expansion': [{'name': 'group', '__type__': 'NonTerminal'}, {'name': '__stage_star_1', '__type__':
'NonTerminal'}], 'order': 2, 'alias': None, 'options': {'keep_all_tokens': False, 'expand1': False, 'priority': None,
'template_source': None, 'empty_indices': (), '__type__': 'RuleOptions'}, '__type__': 'Rule'}, 12: {'origin': {'name':
'stage', '__type__': 'NonTerminal'}, 'expansion': [{'name': 'group', '__type__': 'NonTerminal'}], 'order': 3, 'alias':
None, 'options': {'keep_all_tokens': False, 'expand1': False, 'priority': None, 'template_source': None,
'empty_indices': (), '__type__': 'RuleOptions'}, '__type__': 'Rule'}, 13: {'origin': {'name': 'group', '__type__':
'NonTerminal'}, 'expansion': [{'name': 'LPAR', 'filter_out': False, '__type__': 'Terminal'}, {'name': 'layout',
'__type__': 'NonTerminal'}, {'name': 'RPAR', 'filter_out': False, '__type__': 'Terminal'}], 'order': 0, 'alias': None,
'options': {'keep_all_tokens': False, 'expand1': False, 'priority': None, 'template_source': None, 'empty_indices':
(), '__type__': 'RuleOptions'}, '__type__': 'Rule'}, 14: {'origin': {'name': 'word', '__type__': 'NonTerminal'},
'expansion': [{'name': 'BARE', 'filter_out': False, '__type__': 'Terminal'}], 'order': 0, 'alias': None, 'options':
{'keep_all_tokens': False, 'expand1': False, 'priority': None, 'template_source': None, 'empty_indices': (),
'__type__': 'RuleOptions'}, '__type__': 'Rule'}, 15: {'origin': {'name': 'word', '__type__': 'NonTerminal'},
'expansion': [{'name': 'QUOTED', 'filter_out': False, '__type__': 'Terminal'}], 'order': 1, 'alias': None, 'options':
{'keep_all_tokens': False, 'expand1': False, 'priority': None, 'template_source': None, 'empty_indices': (),
'__type__': 'RuleOptions'}, '__type__': 'Rule'}, 16: {'origin': {'name': 'option', '__type__': 'NonTerminal'},
'expansion': [{'name': 'OPTION', 'filter_out': False, '__type__': 'Terminal'}], 'order': 0, 'alias': None, 'options':
{'keep_all_tokens': False, 'expand1': False, 'priority': None, 'template_source': None, 'empty_indices': (),
'__type__': 'RuleOptions'}, '__type__': 'Rule'}, 17: {'origin': {'name': '__layout_star_0', '__type__':
'NonTerminal'}, 'expansion': [{'name': 'VBAR', 'filter_out': True, '__type__': 'Terminal'}, {'name': 'stage',
'__type__': 'NonTerminal'}], 'order': 0, 'alias': None, 'options': {'keep_all_tokens': False, 'expand1': False,
'priority': None, 'template_source': None, 'empty_indices': (), '__type__': 'RuleOptions'}, '__type__': 'Rule'}, 18:
{'origin': {'name': '__layout_star_0', '__type__': 'NonTerminal'}, 'expansion': [{'name': '__layout_star_0',
'__type__': 'NonTerminal'}, {'name': 'VBAR', 'filter_out': True, '__type__': 'Terminal'}, {'name': 'stage',
'__type__': 'NonTerminal'}], 'order': 1, 'alias': None, 'options': {'keep_all_tokens': False, 'expand1': False,
'priority': None, 'template_source': None, 'empty_indices': (), '__type__': 'RuleOptions'}, '__type__': 'Rule'}, 19:
{'origin': {'name': '__stage_star_1', '__type__': 'NonTerminal'}, 'expansion': [{'name': 'word', '__type__':
'NonTerminal'}], 'order': 0, 'alias': None, 'options': {'keep_all_tokens': False, 'expand1': False, 'priority': None,
'template_source': None, 'empty_indices': (), '__type__': 'RuleOptions'}, '__type__': 'Rule'}, 20: {'origin': {'name':
'__stage_star_1', '__type__': 'NonTerminal'}, 'expansion': [{'name': 'option', '__type__': 'NonTerminal'}], 'order':
1, 'alias': None, 'options': {'keep_all_tokens': False, 'expand1': False, 'priority': None, 'template_source': None,
'empty_indices': (), '__type__': 'RuleOptions'}, '__type__': 'Rule'}, 21: {'origin': {'name': '__stage_star_1',
'__type__': 'NonTerminal'}, 'expansion': [{'name': 'group', '__type__': 'NonTerminal'}], 'order': 2, 'alias': None,
'options': {'keep_all_tokens': False, 'expand1': False, 'priority': None, 'template_source': None, 'empty_indices':
(), '__type__': 'RuleOptions'}, '__type__': 'Rule'}, 22: {'origin': {'name': '__stage_star_1', '__type__':
'NonTerminal'}, 'expansion': [{'name': '__stage_star_1', '__type__': 'NonTerminal'}, {'name': 'word', '__type__':
'NonTerminal'}], 'order': 3, 'alias': None, 'options': {'keep_all_tokens': False, 'expand1': False, 'priority': None,
'template_source': None, 'empty_indices': (), '__type__': 'RuleOptions'}, '__type__': 'Rule'}, 23: {'origin': {'name':
'__stage_star_1', '__type__': 'NonTerminal'}, 'expansion': [{'name': '__stage_star_1', '__type__': 'NonTerminal'},
{'name': 'option', '__type__': 'NonTerminal'}], 'order': 4, 'alias': None, 'options': {'keep_all_tokens': False,
'expand1': False, 'priority': None, 'template_source': None, 'empty_indices': (), '__type__': 'RuleOptions'},
'__type__': 'Rule'}, 24: {'origin': {'name': '__stage_star_1', '__type__': 'NonTerminal'}, 'expansion': [{'name':
'__stage_star_1', '__type__': 'NonTerminal'}, {'name': 'group', '__type__': 'NonTerminal'}], 'order': 5, 'alias':
None, 'options': {'keep_all_tokens': False, 'expand1': False, 'priority': None, 'template_source': None,
'empty_indices': (), '__type__': 'RuleOptions'}, '__type__': 'Rule'}}}

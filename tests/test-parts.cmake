# SPDX-License-Identifier: Apache-2.0
#
# Which tests need a part of the library that a build may leave out (cmake/NighParts.cmake).  A test that is not named
# here is of the core and runs in every build.

set(tests_of_documents
    fuzz.csv fuzz.html fuzz.http fuzz.ignore fuzz.log fuzz.json fuzz.json_array fuzz.jsonl fuzz.model fuzz.report fuzz.tasks fuzz.tokeniser fuzz.trec fuzz.trec_text
    fuzz.vocabulary fuzz.warc golden.model_signatures golden.signatures golden.text_signatures
    golden.texts_golden
    property.analysis property.power_log property.dedup_complete property.dedup_days property.dedup_oracle property.project property.stored_tables property.torture property.stages property.star_rounds unit.stages_faults
    unit.against unit.analyser unit.collection_vocabulary unit.collection_weights unit.corpus unit.dedup
    unit.dense unit.dedup_crowds unit.dedup_losses unit.dedup_source unit.dedup_wide unit.dedup_write unit.extract
    unit.extract_hostile unit.extract_html unit.extract_http unit.extract_json unit.feature unit.ignore unit.labels unit.language unit.language_detector
    unit.live unit.live_tables unit.minhash unit.model unit.model_sign unit.pack unit.passage unit.pipeline unit.report
    unit.report_diff unit.rereading unit.signer unit.signing unit.simhash unit.source unit.spell unit.spelling unit.split_containers
    unit.split_faults unit.split_formats unit.split_limits unit.split_tree unit.split_warc unit.text_reader
    unit.texts unit.topsig unit.unicode unit.vocabulary unit.weight
    cli.against cli.against_days cli.against_stream cli.bad_input cli.bombs cli.dedup cli.dedup_forms cli.dedup_limits cli.delete cli.documents cli.folders cli.where cli.keys cli.losses cli.mixed cli.near_tables cli.pairs cli.own_ids cli.places cli.queries cli.same_documents cli.search_probe cli.tables cli.search_slices cli.sign cli.terminal cli.adopt cli.chunks cli.graph_masks cli.index_columns cli.left_out cli.rank cli.search_columns cli.seed cli.tune cli.vocabulary cli.widths crash.against_kill oracle.html oracle.chunk_reader crash.ext4 crash.kills crash.live_kill crash.torture_long oracle.format_reader oracle.log_reader repository.papers repository.docs unit.chunk_scheme cli.dedup_slurm cli.late cli.dedup_stages cli.dedup_stages_refused cli.reports cli.info_plot crash.stages_kill fuzz.stages server.report_page)
set(tests_of_learning
    property.learned_lookup property.s3h_objective unit.codewords unit.eigen unit.eval_learned unit.klsh unit.labelled unit.learn unit.lesson
    unit.s3h unit.ssh
    cli.completion cli.eval_learned cli.help cli.learned cli.train repository.papers repository.docs)
set(tests_of_terms
    fuzz.manifest fuzz.terms fuzz.writers golden.terms_golden property.filters property.power_loss property.refused_writes property.terms
    property.terms_faults
    unit.blocks unit.eval_filters unit.filter_choice unit.filters_bound unit.positions unit.terms_file unit.terms_index unit.terms_search
    cli.completion cli.eval_terms cli.help cli.committed cli.interrupt_soon cli.leftovers cli.peak_memory cli.terms cli.terms_errors cli.terms_verify
    oracle.terms_reader repository.papers repository.docs)
set(tests_of_evaluation
    fuzz.truth property.learned_lookup property.tune unit.eval unit.eval_duplicates unit.eval_filters unit.eval_learned unit.metric
    unit.nearness unit.shares
    cli.completion cli.eval cli.eval_duplicates cli.eval_learned cli.eval_nearest cli.eval_terms cli.help cli.usage
    cli.widths repository.papers repository.docs)
set(tests_of_server repository.docs cli.help cli.completion server.api server.ending server.serve_kill server.serve_kill_long server.slow_clients server.crowds server.crowds_many server.examples server.page server.schemathesis server.load server.socket fuzz.serve)

# Whether all that the test needs is built.
function(parts_suffice name result)
    set(${result} TRUE PARENT_SCOPE)
    foreach(part IN LISTS parts)
        if(name IN_LIST tests_of_${part} AND NOT part IN_LIST parts_built)
            set(${result} FALSE PARENT_SCOPE)
        endif()
    endforeach()
endfunction()
